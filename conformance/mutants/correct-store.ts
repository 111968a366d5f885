import type {
  Awaitable,
  BatchStore,
  Claim,
  ClaimingStore,
  ClaimResult,
  Store,
  TransactionalStore,
  TransactResult,
} from "@bq/idempotency-core";
import { isThenable, newToken, requireClaim, requireId } from "@bq/idempotency-core/backend";
import { type Database, type Entry, Transaction } from "./database.ts";

/**
 * A small store that keeps the contract, over a database that answers late. Each method checks its arguments, goes to the
 * server, does its work there in one step, and comes back. The broken stores differ from it in one place each.
 */
export class CorrectStore implements BatchStore, ClaimingStore, TransactionalStore<Transaction> {
  readonly database: Database;
  readonly ttlMs: number;
  readonly work: "sync" | "async";

  constructor(database: Database, ttlMs: number | undefined, work: "sync" | "async") {
    this.database = database;
    this.ttlMs = ttlMs ?? Number.POSITIVE_INFINITY;
    this.work = work;
  }

  // What happens in one step on the server. The broken stores override these, or the methods below.

  key(id: string): string {
    return id;
  }

  requireId(id: string): void {
    requireId(id);
  }

  requireIds(ids: readonly string[]): void {
    if (!Array.isArray(ids)) throw new TypeError("Ids must come as an array of strings.");
    for (const id of ids) this.requireId(id);
  }

  isLive(entry: Entry | undefined): entry is Entry {
    return entry !== undefined && entry.until > this.database.nowMs;
  }

  isMarked(id: string): boolean {
    const entry = this.database.entries.get(this.key(id));
    return this.isLive(entry) && entry.token === undefined;
  }

  mark(id: string): void {
    this.database.entries.set(this.key(id), this.newMark());
  }

  newMark(): Entry {
    return { until: this.database.nowMs + this.ttlMs };
  }

  drop(id: string): void {
    this.database.entries.delete(this.key(id));
  }

  /** The live claim on the id, if there is one. */
  held(id: string): (Entry & { token: string }) | undefined {
    const entry = this.database.entries.get(this.key(id));
    const { token } = entry ?? {};
    return this.isLive(entry) && token !== undefined ? { ...entry, token } : undefined;
  }

  hold(claim: Claim, leaseMs: number): void {
    const until = this.database.nowMs + leaseMs;
    this.database.entries.set(this.key(claim.id), { token: claim.token, holder: this, until });
  }

  owns(claim: Claim): boolean {
    return this.held(claim.id)?.token === claim.token;
  }

  requireLease(leaseMs: number): void {
    if (!Number.isInteger(leaseMs) || leaseMs < 1) throw new RangeError(`A bad lease: ${leaseMs}.`);
  }

  /** Takes the step to the server and back. */
  async ask<T>(step: () => T): Promise<T> {
    await this.database.hop();
    const answer = step();
    await this.database.hop();
    return answer;
  }

  // The seen-set.

  async seen(id: string): Promise<boolean> {
    this.requireId(id);
    return this.ask(() => this.isMarked(id));
  }

  async remember(id: string): Promise<void> {
    this.requireId(id);
    return this.ask(() => this.mark(id));
  }

  async forget(id: string): Promise<void> {
    this.requireId(id);
    return this.ask(() => this.drop(id));
  }

  // Batches.

  async seenMany(ids: readonly string[]): Promise<boolean[]> {
    this.requireIds(ids);
    return this.ask(() => ids.map((id) => this.isMarked(id)));
  }

  async rememberMany(ids: readonly string[]): Promise<void> {
    this.requireIds(ids);
    return this.ask(() => {
      for (const id of ids) this.mark(id);
    });
  }

  // Claims.

  async claim(id: string, leaseMs: number): Promise<ClaimResult> {
    this.requireId(id);
    this.requireLease(leaseMs);
    return this.ask(() => this.tryClaim(id, leaseMs));
  }

  tryClaim(id: string, leaseMs: number): ClaimResult {
    if (this.isMarked(id)) return { status: "processed" };
    const held = this.held(id);
    if (held) return { status: "in-flight", retryAfterMs: held.until - this.database.nowMs };
    const claim = { id, token: newToken() };
    this.hold(claim, leaseMs);
    return { status: "claimed", claim };
  }

  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    requireClaim(claim);
    this.requireLease(leaseMs);
    return this.ask(() => {
      const ours = this.owns(claim);
      if (ours) this.hold(claim, leaseMs);
      return ours;
    });
  }

  async commit(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    return this.ask(() => {
      const ours = this.owns(claim);
      this.mark(claim.id);
      return ours;
    });
  }

  async release(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    return this.ask(() => {
      const ours = this.owns(claim);
      if (ours) this.drop(claim.id);
      return ours;
    });
  }

  // Transactions.

  async transact<R>(
    id: string | undefined,
    work: (tx: Transaction) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    if (id !== undefined) this.requireId(id);
    await this.database.hop();
    const unlock = id === undefined ? () => {} : await this.database.lock(this.key(id));
    try {
      const refused = id === undefined ? undefined : this.refusal(id);
      return refused ?? (await this.runTransaction(id, work));
    } finally {
      unlock();
    }
  }

  refusal(id: string): TransactResult<never> | undefined {
    if (this.isMarked(id)) return { status: "processed" };
    const held = this.held(id);
    return held && { status: "in-flight", retryAfterMs: held.until - this.database.nowMs };
  }

  async runTransaction<R>(
    id: string | undefined,
    work: (tx: Transaction) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    const tx = new Transaction();
    try {
      const answer = work(tx);
      if (this.work === "sync" && isThenable(answer)) throw new TypeError("The work returned a promise.");
      const value = await answer;
      if (id !== undefined) tx.entries.set(this.key(id), this.newMark());
      this.database.commit(tx);
      return { status: "ran", value };
    } finally {
      tx.open = false;
    }
  }

  within(tx: Transaction): Store {
    return {
      seen: (id) => {
        this.requireId(id);
        const key = this.key(id);
        return tx.entries.has(key) ? tx.entries.get(key)?.token === undefined : this.isMarked(id);
      },
      remember: (id) => {
        this.requireId(id);
        tx.entries.set(this.key(id), this.newMark());
      },
      forget: (id) => {
        this.requireId(id);
        tx.entries.set(this.key(id), undefined);
      },
    };
  }
}
