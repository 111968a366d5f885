import { randomUUID } from "node:crypto";
import type { BatchContestant, Figures, Kind, Place, SingleContestant } from "./contestant.ts";
import { drive } from "./drive.ts";

/** How long a measurement takes: about so many milliseconds, or exactly so many deliveries. */
export type Length = { readonly aboutMs: number } | { readonly deliveries: number };

/** No measurement makes more deliveries than this, so that what is in memory stays there. */
const mostDeliveries = 200_000;
/** Above this rate the clock is read for one call in 16. */
const fastPerSecond = 100_000;

/** An open contestant under measurement: warms it up, drives it, and makes sure that it did what it is measured for. */
export class Subject {
  readonly name: string;
  readonly #deliver: (ids: readonly string[]) => Promise<unknown>;
  readonly #batchSize: number;
  readonly #effects: { count: number };
  readonly #close: () => Promise<void>;

  static async open(contestant: SingleContestant | BatchContestant, place: Place): Promise<Subject> {
    const effects = { count: 0 };
    const effect = () => {
      effects.count++;
    };
    if ("batchSize" in contestant) {
      const session = await contestant.open(place, effect);
      const deliver = (ids: readonly string[]) => session.deliverBatch(ids);
      return new Subject(contestant.name, deliver, contestant.batchSize, effects, () => session.close());
    }
    const session = await contestant.open(place, effect);
    const deliver = (ids: readonly string[]) => session.deliver(ids[0] ?? "");
    return new Subject(contestant.name, deliver, 1, effects, () => session.close());
  }

  private constructor(
    name: string,
    deliver: (ids: readonly string[]) => Promise<unknown>,
    batchSize: number,
    effects: { count: number },
    close: () => Promise<void>,
  ) {
    this.name = name;
    this.#deliver = deliver;
    this.#batchSize = batchSize;
    this.#effects = effects;
    this.#close = close;
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** First deliveries, then the same ids again, both after a warm-up of their own. */
  async measure(concurrency: number, length: Length): Promise<Record<Kind, Figures>> {
    const warmUp = await this.#warmUp("first", concurrency, length, freshIds);
    const ids = freshIds(this.#calls(warmUp.perSecond, concurrency, length), this.#batchSize);
    const first = await this.#drive("first", concurrency, ids, ids.length, warmUp.perSecond);
    const again = await this.#warmUp("duplicate", concurrency, length, () => ids);
    const calls = this.#calls(again.perSecond, concurrency, length);
    const duplicate = await this.#drive("duplicate", concurrency, ids, calls, again.perSecond);
    return { first, duplicate };
  }

  /** Opens connections, lets the compiler see the code, and tells about how fast it is. */
  async #warmUp(
    kind: Kind,
    concurrency: number,
    length: Length,
    idsFor: (calls: number, batchSize: number) => readonly (readonly string[])[],
  ): Promise<Figures> {
    const enoughMs = "aboutMs" in length ? length.aboutMs / 4 : 0;
    for (let calls = concurrency + 15; ; calls *= 3) {
      const ids = idsFor(calls, this.#batchSize);
      const figures = await this.#drive(kind, concurrency, ids, calls, 0);
      const deliveries = calls * this.#batchSize;
      const tookMs = (deliveries / figures.perSecond) * 1_000;
      if (tookMs >= enoughMs || deliveries * 3 > mostDeliveries) return figures;
    }
  }

  /** At least two calls for each worker: fewer would measure how they start and end. */
  #calls(perSecond: number, concurrency: number, length: Length): number {
    const deliveries = "aboutMs" in length ? (perSecond * length.aboutMs) / 1_000 : length.deliveries;
    return Math.max(2 * concurrency, Math.round(Math.min(deliveries, mostDeliveries) / this.#batchSize));
  }

  async #drive(
    kind: Kind,
    concurrency: number,
    ids: readonly (readonly string[])[],
    calls: number,
    perSecond: number,
  ): Promise<Figures> {
    const effectsBefore = this.#effects.count;
    const figures = await drive((n) => this.#deliver(ids[n % ids.length] ?? []), {
      calls,
      concurrency,
      deliveriesPerCall: this.#batchSize,
      sampleEvery: perSecond > fastPerSecond ? 16 : 1,
    });
    const had = this.#effects.count - effectsBefore;
    const expected = kind === "first" ? calls * this.#batchSize : 0;
    if (had !== expected) {
      throw new Error(
        `${this.name} had ${had} effects instead of ${expected}, for ${calls} calls of ${kind} deliveries at concurrency ${concurrency}. Nothing that it was measured for is true.`,
      );
    }
    return figures;
  }
}

function freshIds(calls: number, batchSize: number): string[][] {
  return Array.from({ length: calls }, () => Array.from({ length: batchSize }, () => randomUUID()));
}
