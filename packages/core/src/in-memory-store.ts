import { maxTimerMs, OptionReader, requireInteger } from "./options.ts";
import { requireId, requireIds } from "./storage-key.ts";
import type { BatchStore, Claim, ClaimingStore, ClaimResult } from "./store.ts";
import { newToken, requireClaim } from "./token.ts";

/** The largest number of entries that a `Map` holds in V8. */
const maxMapEntries = 2 ** 24;

/** What to keep, and for how long. */
export interface InMemoryStoreOptions {
  /** How long a mark lives, in milliseconds. Default: for ever. */
  ttlMs?: number | undefined;
  /** The most marks to keep; past that the oldest go first. Claims do not count and never go. Default and limit: 16 777 216. */
  maxEntries?: number | undefined;
  /** The clock, in milliseconds; only differences matter. Default: `performance.now`, which no change of the wall clock moves. */
  now?: (() => number) | undefined;
}

interface Holder {
  readonly token: string;
  until: number;
}

/**
 * The reference store: marks and claims in the memory of one process. For tests, for a single worker whose broker forgets
 * its messages with it, and as the plainest reading of the contract. A restart forgets everything.
 *
 * @throws {TypeError | RangeError} at construction, for an option that is unknown or out of range
 */
export class InMemoryStore implements BatchStore, ClaimingStore {
  /** id → when its mark expires, oldest first. */
  readonly #marks = new Map<string, number>();
  readonly #claims = new Map<string, Holder>();
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #now: () => number;
  /**
   * Walks the marks from the oldest on. It is kept, because a new iterator would first step over every hole that deleted
   * marks left at the front of the Map.
   */
  #byAge: Iterator<string, undefined>;
  /** The mark that `#byAge` gave last: the oldest, unless it is gone by now. */
  #head: string | undefined;
  #sweepClaimsAt = 1_024;

  constructor(options?: InMemoryStoreOptions) {
    const read = new OptionReader("InMemoryStore", options, ["ttlMs", "maxEntries", "now"]);
    this.#ttlMs = read.ttlMs() ?? Number.POSITIVE_INFINITY;
    this.#maxEntries = read.integer("maxEntries", { min: 1, max: maxMapEntries }) ?? maxMapEntries;
    this.#now = read.callback<() => number>("now") ?? (() => performance.now());
    this.#byAge = this.#marks.keys();
  }

  seen(id: string): boolean {
    requireId(id);
    return this.#isMarked(id, this.#now());
  }

  seenMany(ids: readonly string[]): boolean[] {
    requireIds(ids);
    const now = this.#now();
    return ids.map((id) => this.#isMarked(id, now));
  }

  remember(id: string): void {
    requireId(id);
    this.#mark(id, this.#now());
  }

  rememberMany(ids: readonly string[]): void {
    requireIds(ids);
    const now = this.#now();
    for (const id of ids) this.#mark(id, now);
  }

  forget(id: string): void {
    requireId(id);
    this.#marks.delete(id);
    this.#claims.delete(id);
  }

  claim(id: string, leaseMs: number): ClaimResult {
    requireId(id);
    requireLease(leaseMs);
    const now = this.#now();
    if (this.#isMarked(id, now)) return { status: "processed" };
    const holder = this.#claims.get(id);
    if (holder && holder.until > now) {
      return { status: "in-flight", retryAfterMs: Math.max(1, Math.ceil(holder.until - now)) };
    }
    if (this.#claims.size >= this.#sweepClaimsAt) this.#dropLapsedClaims(now);
    const token = newToken();
    this.#claims.set(id, { token, until: now + leaseMs });
    return { status: "claimed", claim: { id, token } };
  }

  renew(claim: Claim, leaseMs: number): boolean {
    requireClaim(claim);
    requireLease(leaseMs);
    const now = this.#now();
    const holder = this.#held(claim, now);
    if (holder) holder.until = now + leaseMs;
    return holder !== undefined;
  }

  commit(claim: Claim): boolean {
    requireClaim(claim);
    const now = this.#now();
    const ours = this.#held(claim, now) !== undefined;
    this.#mark(claim.id, now);
    return ours;
  }

  release(claim: Claim): boolean {
    requireClaim(claim);
    const ours = this.#held(claim, this.#now()) !== undefined;
    if (ours) this.#claims.delete(claim.id);
    return ours;
  }

  /** How many marks are kept, expired ones that were not yet dropped included. */
  get size(): number {
    return this.#marks.size;
  }

  #isMarked(id: string, now: number): boolean {
    const until = this.#marks.get(id);
    return until !== undefined && until > now;
  }

  #held(claim: Claim, now: number): Holder | undefined {
    const holder = this.#claims.get(claim.id);
    return holder && holder.token === claim.token && holder.until > now ? holder : undefined;
  }

  #mark(id: string, now: number): void {
    if (this.#claims.size > 0) this.#claims.delete(id);
    // Setting an existing key would leave it at its old place, and its renewed mark would count as an old one.
    this.#marks.delete(id);
    if (this.#head === id) this.#head = undefined;
    this.#makeRoom(now);
    this.#marks.set(inOnePiece(id), now + this.#ttlMs);
  }

  /** Drops the oldest mark if there is no room for one more, and up to two expired ones, so that dropping outpaces the inflow. */
  #makeRoom(now: number): void {
    for (let dropped = 0; dropped < 2; dropped++) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      if (this.#isMarked(oldest, now) && this.#marks.size < this.#maxEntries) return;
      this.#marks.delete(oldest);
    }
  }

  #oldest(): string | undefined {
    while (this.#head === undefined || !this.#marks.has(this.#head)) {
      let next = this.#byAge.next();
      if (next.done) {
        // An iterator that came to the end stays there, whatever is added later.
        this.#byAge = this.#marks.keys();
        next = this.#byAge.next();
        if (next.done) return undefined;
      }
      this.#head = next.value;
    }
    return this.#head;
  }

  #dropLapsedClaims(now: number): void {
    for (const [id, holder] of this.#claims) if (holder.until <= now) this.#claims.delete(id);
    this.#sweepClaimsAt = Math.max(1_024, this.#claims.size * 2);
  }
}

/**
 * A string that was put together, as those of `randomUUID` are, keeps all its parts, four times the memory, until something
 * needs it in one piece; looking for a pattern does.
 */
function inOnePiece(id: string): string {
  anything.test(id);
  return id;
}

const anything = /^/;

function requireLease(leaseMs: unknown): void {
  requireInteger("leaseMs", leaseMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
}
