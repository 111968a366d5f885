import type { LoggedMessage } from "./handler.ts";
import { isIdentity } from "./ledger.ts";
import type { FromWorker } from "./protocol.ts";
import type { LoggedDelivery } from "./read-log.ts";
import { emptyTally, type Tally } from "./tally.ts";
import type { Origin, Sent } from "./worker-process.ts";

/** How many acknowledged deliveries are kept, to be brought again after the restart. */
const recentDeliveries = 200;
/** What they may hold together, in characters, so that a log of large messages does not fill the memory. */
const recentCharacters = 8_000_000;

/** What the broker saw: how each delivery ended, before and after the kill. */
export class DeliveryRecord {
  readonly before: Tally = emptyTally();
  readonly after: Tally = emptyTally();
  /** The part of `after` that the broker brought again. */
  readonly again: Record<Exclude<Origin, "log">, Tally> = {
    unacknowledged: emptyTally(),
    acknowledged: emptyTally(),
  };
  /** Every id of the log; `true` when one of its deliveries ran or was skipped. */
  readonly done: Map<string, boolean> = new Map();
  /** What the store could not do. */
  readonly problems: string[] = [];
  /** The ids of the deliveries that the killed worker held. */
  heldAtKill: ReadonlySet<string> = new Set();
  readonly #recent: LoggedDelivery[] = [];
  #recentCharacters = 0;
  #phase: Tally = this.before;

  sent({ delivery, origin }: Sent): void {
    for (const tally of this.#talliesOf(origin)) tally.deliveries++;
    const id = idOf(delivery);
    if (id !== undefined && !this.done.has(id)) this.done.set(id, false);
  }

  settled({ delivery, origin }: Sent, { outcome, problem }: Extract<FromWorker, { type: "settled" }>): void {
    for (const tally of this.#talliesOf(origin)) tally[outcome]++;
    if (problem !== undefined) this.problems.push(problem);
    const id = idOf(delivery);
    if (id !== undefined && (outcome === "ran" || outcome === "skipped")) this.done.set(id, true);
    this.#keep(delivery);
  }

  /** The latest deliveries that were acknowledged before the kill, oldest first. */
  get recent(): LoggedDelivery[] {
    return [...this.#recent];
  }

  /** The worker was killed while it held these. */
  killed(held: readonly Sent[]): void {
    this.before.unanswered = held.length;
    this.heldAtKill = new Set(held.map(({ delivery }) => idOf(delivery)).filter(isIdentity));
    this.#phase = this.after;
    this.#recent.length = 0;
  }

  #talliesOf(origin: Origin): Tally[] {
    return origin === "log" ? [this.#phase] : [this.#phase, this.again[origin]];
  }

  #keep(delivery: LoggedDelivery): void {
    if (this.#phase === this.after) return;
    this.#recent.push(delivery);
    this.#recentCharacters += delivery.text.length;
    while (this.#recent.length > recentDeliveries || this.#recentCharacters > recentCharacters) {
      this.#recentCharacters -= this.#recent.shift()?.text.length ?? 0;
    }
  }
}

function idOf({ message }: LoggedDelivery): string | undefined {
  const id = (message as LoggedMessage).meta?.id;
  return isIdentity(id) ? id : undefined;
}
