/** One id in the model: marked, or held by a claim, until then. */
interface Entry {
  /** The number of the claim that holds the id; `undefined`: it is marked. */
  readonly claim: number | undefined;
  readonly until: number;
}

/** What a claim was answered; claims are told apart by the order in which they were made. */
export type ModelClaim = "claimed" | "in-flight" | "processed";

/** The contract in its plainest form: one map, one clock, no tokens. A store must give the same answers. */
export class StoreModel {
  readonly #entries = new Map<string, Entry>();
  readonly #ttlMs: number;
  #nowMs = 0;

  constructor(ttlMs: number = Number.POSITIVE_INFINITY) {
    this.#ttlMs = ttlMs;
  }

  elapse(ms: number): void {
    this.#nowMs += ms;
    for (const [id, { until }] of this.#entries) if (until <= this.#nowMs) this.#entries.delete(id);
  }

  seen(id: string): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.claim === undefined;
  }

  remember(id: string): void {
    this.#entries.set(id, { claim: undefined, until: this.#nowMs + this.#ttlMs });
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  claim(id: string, claim: number, leaseMs: number): ModelClaim {
    if (this.seen(id)) return "processed";
    if (this.#entries.has(id)) return "in-flight";
    this.#entries.set(id, { claim, until: this.#nowMs + leaseMs });
    return "claimed";
  }

  renew(id: string, claim: number, leaseMs: number): boolean {
    const ours = this.#isHeldBy(id, claim);
    if (ours) this.#entries.set(id, { claim, until: this.#nowMs + leaseMs });
    return ours;
  }

  commit(id: string, claim: number): boolean {
    const ours = this.#isHeldBy(id, claim);
    this.remember(id);
    return ours;
  }

  release(id: string, claim: number): boolean {
    const ours = this.#isHeldBy(id, claim);
    if (ours) this.forget(id);
    return ours;
  }

  #isHeldBy(id: string, claim: number): boolean {
    return this.#entries.get(id)?.claim === claim;
  }
}
