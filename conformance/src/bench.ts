import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { BatchStore, ClaimingStore, Store, TransactionalStore } from "@bq/idempotency-core";
import { show } from "@bq/idempotency-core/backend";
import type { Capability, CaseContext, Subject } from "./subject.ts";

/** Added to every wait, in milliseconds: a server may round its clock, and expire a moment late. */
const marginMs = 60;

/** The methods that a capability stands for; `ttl` has none. */
export const methodsOf: Readonly<Record<Exclude<Capability, "ttl">, readonly string[]>> = {
  batch: ["seenMany", "rememberMany"],
  claims: ["claim", "renew", "commit", "release"],
  transactions: ["transact", "within"],
};

/** A moment of a case: on the clock of this process, and how far `elapse` had moved the subject's clock. */
export interface Moment {
  readonly realMs: number;
  readonly advancedMs: number;
}

/** What the body of a case works with: handles on one backend, and the time that passes there. */
export class Bench {
  readonly subject: Subject;
  readonly context: CaseContext;
  readonly #opened = new Set<Store>();
  #closed = false;
  /** How far `advance` has moved the clock, in milliseconds. */
  #advancedMs = 0;

  constructor(subject: Subject, context: CaseContext) {
    this.subject = subject;
    this.context = context;
  }

  /** A new handle on the shared backend, as another worker would have it. */
  async open(): Promise<Store> {
    const store = await this.subject.open(this.context);
    assert.ok(
      typeof store === "object" && store !== null,
      `open() must answer with a store, got ${show(store)}`,
    );
    this.#opened.add(store);
    if (this.#closed) {
      // The case was given up while this handle was being opened.
      await this.close(store);
      throw new Error("The case is over.");
    }
    return store;
  }

  openBatch(): Promise<BatchStore> {
    return this.#openWith("batch") as Promise<BatchStore>;
  }

  openClaiming(): Promise<ClaimingStore> {
    return this.#openWith("claims") as Promise<ClaimingStore>;
  }

  openTransactional(): Promise<TransactionalStore<unknown>> {
    return this.#openWith("transactions") as Promise<TransactionalStore<unknown>>;
  }

  async #openWith(capability: Exclude<Capability, "ttl">): Promise<Store> {
    const store = await this.open();
    const missing = methodsOf[capability].filter((method) => !hasMethod(store, method));
    assert.deepEqual(
      missing,
      [],
      `the store lacks methods of the capability ${JSON.stringify(capability)} that the subject declares`,
    );
    return store;
  }

  async close(store: Store): Promise<void> {
    if (!this.#opened.delete(store)) return;
    if (this.subject.close) await this.subject.close(store, this.context);
    else if (hasMethod(store, "close")) await (store as unknown as { close(): unknown }).close();
  }

  /** Closes every handle, also when one of them fails to; then throws the first failure. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    const closings = await Promise.allSettled([...this.#opened].map((store) => this.close(store)));
    for (const closing of closings) if (closing.status === "rejected") throw closing.reason;
  }

  now(): Moment {
    return { realMs: performance.now(), advancedMs: this.#advancedMs };
  }

  /**
   * The longest that the store may take for passed, in milliseconds: a clock that `elapse` moves may run by itself as well, as
   * that of a server does.
   */
  atMostSince(moment: Moment): number {
    return performance.now() - moment.realMs + (this.#advancedMs - moment.advancedMs);
  }

  /** The shortest: a clock that `elapse` moves may stand still otherwise. */
  #atLeastSince(moment: Moment): number {
    return this.subject.advance ? this.#advancedMs - moment.advancedMs : performance.now() - moment.realMs;
  }

  /** Lets time pass: on the subject's clock if it can be moved, else by waiting. */
  async elapse(ms: number): Promise<void> {
    if (!this.subject.advance) return void (await pause(ms));
    this.#advancedMs += ms;
    await this.subject.advance(ms, this.context);
  }

  /** Waits until what began at `since`, and lasts `ms`, is surely over. */
  async outlast(ms: number, since: Moment = this.now()): Promise<void> {
    await this.elapse(Math.max(0, Math.ceil(ms + marginMs - this.#atLeastSince(since))));
  }

  /** Asks again and again until the answer is `true`; fails, with the sentence, when `limitMs` have passed. */
  async eventually(sentence: string, ask: () => Promise<boolean>, limitMs = 10_000): Promise<void> {
    const startedAt = this.now();
    while (!(await ask())) {
      assert.ok(this.#atLeastSince(startedAt) < limitMs, `${sentence}: not so after ${limitMs} ms`);
      await this.elapse(25);
    }
  }

  /**
   * For what can only be judged while a time limit holds: `attempt` answers `false` when the machine was too slow to judge,
   * and is then tried again, with the number of the attempt.
   */
  async inTime(attempt: (round: number) => Promise<boolean>): Promise<void> {
    for (let round = 1; round <= 8; round++) if (await attempt(round)) return;
    assert.fail("could not be judged: in eight attempts the store or the machine was too slow");
  }
}

export function hasMethod(store: unknown, name: string): boolean {
  return typeof (store as Record<string, unknown> | null | undefined)?.[name] === "function";
}
