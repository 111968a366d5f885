/** A value, or a promise of it: a store in the same process may answer at once. */
export type Awaitable<T> = T | PromiseLike<T>;

/** Is this a promise, or something that behaves like one? */
export function isThenable<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | null | undefined)?.then === "function";
}

/**
 * The seen-set: which ids already had their effect. These three methods are all that `wrap` needs.
 *
 * Every method throws `TypeError` on an unusable id and `StoreError` when the store cannot do it.
 */
export interface Store {
  /** Is there a live mark? A claim is not a mark. */
  seen(id: string): Awaitable<boolean>;
  /** Writes the mark, from any state, and starts its TTL anew. */
  remember(id: string): Awaitable<void>;
  /** Drops the mark and any claim, so that the next delivery runs. An absent id is no error. */
  forget(id: string): Awaitable<void>;
}

/** A store that answers for many ids in one round trip. */
export interface BatchStore extends Store {
  /** One answer per id, in the order of the ids; an id may be repeated. */
  seenMany(ids: readonly string[]): Awaitable<boolean[]>;
  /** Writes all marks, or none of them. */
  rememberMany(ids: readonly string[]): Awaitable<void>;
}

/** Proof of who is processing an id: a random token that only its holder knows. */
export interface Claim {
  /** The id that is claimed. */
  readonly id: string;
  /** Random, and new for each claim. */
  readonly token: string;
}

/** What a claim found. */
export type ClaimResult =
  | { status: "claimed"; claim: Claim }
  | { status: "in-flight"; retryAfterMs: number }
  | { status: "processed" };

/** A store in which one worker at a time can hold an id while it processes it. */
export interface ClaimingStore extends Store {
  /** Takes the id if it is free, in one round trip. Of N concurrent claims of one absent id exactly one is `claimed`. */
  claim(id: string, leaseMs: number): Awaitable<ClaimResult>;
  /** Starts the lease anew; `false` when the claim is no longer ours. */
  renew(claim: Claim, leaseMs: number): Awaitable<boolean>;
  /** Writes the mark ALWAYS, for the effect did happen; `false` when the claim was no longer ours. */
  commit(claim: Claim): Awaitable<boolean>;
  /** Drops our own, uncommitted claim; otherwise changes nothing and answers `false`. */
  release(claim: Claim): Awaitable<boolean>;
}

/** What became of a transaction that was to run once for its id. */
export type TransactResult<R> =
  | { status: "ran"; value: R }
  | { status: "in-flight"; retryAfterMs: number }
  | { status: "processed" };

/** A store whose mark commits in one transaction with the effect. */
export interface TransactionalStore<Tx> extends Store {
  /** Runs `work` in a transaction that also writes the mark: both are kept, or neither. Without an id there is no mark. */
  transact<R>(id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>>;
  /** The same store inside a transaction that the caller opened. */
  within(tx: Tx): Store;
}

/** How grave a finding of `check()` is: marks can be lost (`error`), may be lost or slow (`warning`), worth knowing (`info`). */
export type Severity = "error" | "warning" | "info";

/** One thing about a store's server that an operator should know or mend. */
export interface Finding {
  /** How grave it is. */
  readonly severity: Severity;
  /** Stable, for alerts and filters, such as `maxmemory-policy`. */
  readonly code: string;
  /** One sentence: what is so, what follows, what to change. */
  readonly message: string;
}

/** Has the store the method `name`? Own or inherited; a getter that throws counts as no. */
export function hasMethod(store: unknown, name: string): boolean {
  try {
    return typeof (store as Record<string, unknown> | null | undefined)?.[name] === "function";
  } catch {
    return false;
  }
}

function hasAll(store: unknown, names: readonly string[]): boolean {
  return names.every((name) => hasMethod(store, name));
}

const storeMethods = ["seen", "remember", "forget"] as const;

/** Is this a store at all: are `seen`, `remember` and `forget` there? */
export function isStore(store: unknown): store is Store {
  return hasAll(store, storeMethods);
}

/** Can this store answer for many ids at once? Judged by the presence of its methods. */
export function isBatchStore(store: unknown): store is BatchStore {
  return isStore(store) && hasAll(store, ["seenMany", "rememberMany"]);
}

/** Can ids be claimed in this store? Judged by the presence of its methods. */
export function isClaimingStore(store: unknown): store is ClaimingStore {
  return isStore(store) && hasAll(store, ["claim", "renew", "commit", "release"]);
}

/** Can this store commit its mark with the effect? Judged by the presence of its methods. */
export function isTransactionalStore<Tx = unknown>(store: unknown): store is TransactionalStore<Tx> {
  return isStore(store) && hasAll(store, ["transact", "within"]);
}
