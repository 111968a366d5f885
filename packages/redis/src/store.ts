import {
  type BatchStore,
  type Claim,
  type ClaimingStore,
  type ClaimResult,
  type Finding,
  StoreError,
} from "@bq/idempotency-core";
import {
  maxTimerMs,
  newToken,
  quoteId,
  requireClaim,
  requireId,
  requireInteger,
  show,
  storageKey,
} from "@bq/idempotency-core/backend";
import { checkServers } from "./check.ts";
import { keyPrefixOf, type RedisClient } from "./client.ts";
import {
  claimValue,
  drop,
  dropClaim,
  isClaimValue,
  mark,
  type Request,
  read,
  readMany,
  renewClaim,
  takeClaim,
  write,
  writeMany,
} from "./commands.ts";
import { type ClusterNode, connect } from "./connect.ts";
import { unknownValue } from "./explain.ts";
import {
  type RedisConnectOptions,
  type RedisStoreOptions,
  readConnectOptions,
  readOptions,
  type Settings,
} from "./options.ts";
import { OwnClaims } from "./own-claims.ts";
import { Session } from "./session.ts";
import { groupBySlot } from "./slots.ts";

/**
 * Remembers ids in Redis or Valkey: one server, Sentinel or a cluster, shared by all workers. Every operation is one command
 * on one key, and the server's clock decides what has expired.
 *
 * @example
 * const store = await RedisStore.connect("redis://localhost:6379", { ttlMs: 7 * 24 * 3_600_000 });
 * const onOrder = wrap(store, handler);
 */
export class RedisStore implements BatchStore, ClaimingStore {
  readonly #client: RedisClient;
  readonly #settings: Settings;
  readonly #ownClaims: OwnClaims;
  #session: Session;

  /**
   * Connects to one server (`redis://` or, with TLS, `rediss://`) or to a cluster (a list of some of its nodes). The store
   * owns the connection and ends it in `close`. An operation that the server does not answer fails after `commandTimeoutMs`;
   * a lost connection comes back by itself.
   *
   * @throws {TypeError | RangeError} for an option, an URL or a node that is wrong
   * @throws {StoreError} when the server cannot be reached or refuses the credentials
   */
  static async connect(
    target: string | readonly ClusterNode[],
    options?: RedisConnectOptions,
  ): Promise<RedisStore> {
    const { prefix, ttlMs, ...limits } = readConnectOptions(options);
    const connection = await connect(target, limits);
    const store = new RedisStore(connection.client, { prefix, ttlMs });
    store.#session = new Session(connection.client, connection);
    return store;
  }

  /**
   * Works on a client of the caller's, who also ends it: `close` does not.
   *
   * @param client an ioredis `Redis`, with or without Sentinel, or a `Cluster`
   * @throws {TypeError | RangeError} for another client, or an option that is unknown or out of range
   */
  constructor(client: RedisClient, options?: RedisStoreOptions) {
    if (typeof client?.call !== "function" || typeof client.isCluster !== "boolean") {
      throw new TypeError(`RedisStore: the client must be an ioredis Redis or Cluster, got ${show(client)}.`);
    }
    this.#client = client;
    this.#settings = readOptions(options);
    this.#ownClaims = new OwnClaims(client);
    this.#session = new Session(client);
  }

  async seen(id: string): Promise<boolean> {
    return isMark(await this.#session.run("seen", id, read(this.#key(id))), "seen", id);
  }

  async seenMany(ids: readonly string[]): Promise<boolean[]> {
    const found = new Map<string, boolean>();
    await Promise.all(
      this.#groups(ids).map(async (group) => {
        const values = await this.#session.run(
          "seenMany",
          undefined,
          readMany(group.map((id) => this.#key(id))),
        );
        group.forEach((id, i) => {
          found.set(id, isMark((values as unknown[])[i], "seenMany", id));
        });
      }),
    );
    return ids.map((id) => found.get(id) === true);
  }

  async remember(id: string): Promise<void> {
    await this.#session.run("remember", id, write(this.#key(id), this.#settings.ttlMs));
  }

  /**
   * Writes all marks or none on a single server. On a cluster that holds for the ids of each slot: when some slots fail, the
   * error says how many ids have no mark, and the call may be repeated.
   */
  async rememberMany(ids: readonly string[]): Promise<void> {
    const groups = this.#groups(ids);
    const outcomes = await Promise.allSettled(
      groups.map((group) =>
        this.#session.run(
          "rememberMany",
          undefined,
          writeMany(
            group.map((id) => this.#key(id)),
            this.#settings.ttlMs,
          ),
        ),
      ),
    );
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (!failure) return;
    if (groups.length === 1) throw failure.reason;
    const unmarked = groups.filter((_, i) => outcomes[i]?.status === "rejected").flat();
    throw new StoreError(
      `${unmarked.length} of ${groups.flat().length} ids could not be marked, ${quoteId(unmarked[0] ?? "")} among them; the others are. Repeating the call is safe. ${failure.reason.message}`,
      { operation: "rememberMany", code: failure.reason.code, cause: failure.reason },
    );
  }

  async forget(id: string): Promise<void> {
    await this.#session.run("forget", id, drop(this.#key(id)));
  }

  async claim(id: string, leaseMs: number): Promise<ClaimResult> {
    requireLease(leaseMs);
    const key = this.#key(id);
    const claim: Claim = Object.freeze({ id, token: newToken() });
    const sentAt = performance.now();
    const found = await this.#session.run("claim", id, takeClaim(key, claim.token, leaseMs), () =>
      // It may still be applied there: by a server that was frozen, or when ioredis empties its queue after a reconnect.
      // A release behind it, on the same connection, drops it then; otherwise nobody would hold the id for a lease.
      this.#session.sendBehind(dropClaim(key, claim.token)),
    );
    const [value, leftMs] = Array.isArray(found) ? found : [found, undefined];
    // A command whose answer was lost is sent again, so the claim in the way may be our own.
    if (value === null || value === claimValue(claim.token)) {
      this.#ownClaims.granted(claim, leaseMs, sentAt);
      return { status: "claimed", claim };
    }
    if (value === mark) return { status: "processed" };
    // A claim without a lease would never lapse: we do not write such.
    if (typeof value === "string" && isClaimValue(value) && Number(leftMs) >= 0) {
      return { status: "in-flight", retryAfterMs: Math.max(1, Number(leftMs)) };
    }
    throw unknownValue(value, "claim", id);
  }

  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    requireClaim(claim);
    requireLease(leaseMs);
    const sentAt = performance.now();
    const renewed = await this.#session.run(
      "renew",
      claim.id,
      renewClaim(this.#key(claim.id), claim.token, leaseMs),
    );
    if (Number(renewed) !== 1) return false;
    this.#ownClaims.granted(claim, leaseMs, sentAt);
    return true;
  }

  async commit(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    const ours = this.#ownClaims.mayFindOwnWork(claim);
    const before = await this.#settle("commit", claim, write(this.#key(claim.id), this.#settings.ttlMs));
    return before === claimValue(claim.token) || (before === mark && ours());
  }

  async release(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    const ours = this.#ownClaims.mayFindOwnWork(claim);
    const dropped = await this.#settle("release", claim, dropClaim(this.#key(claim.id), claim.token));
    return Number(dropped) === 1 || ours();
  }

  /** What an operator should know or mend about the server, or each primary of the cluster. Changes nothing. */
  async check(): Promise<Finding[]> {
    return this.#session.attempt("check", undefined, () => checkServers(this.#client, this.#settings));
  }

  /**
   * Waits for the operations under way, then ends the connection if it is the store's own. Afterwards every operation fails
   * with `BQ_STORE_CLOSED`. May be called more than once.
   */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #key(id: string): string {
    return this.#settings.prefix + storageKey(id);
  }

  /** The ids without repetition, in groups that one command can name: all on a single server, those of one slot on a cluster. */
  #groups(ids: readonly string[]): string[][] {
    for (const id of ids) requireId(id);
    const distinct = [...new Set(ids)];
    if (!this.#client.isCluster) return distinct.length > 0 ? [distinct] : [];
    const keyPrefix = keyPrefixOf(this.#client);
    return groupBySlot(distinct, (id) => keyPrefix + this.#key(id));
  }

  /** Sends a commit or a release, and notes when it may have been done without an answer. */
  #settle(operation: "commit" | "release", claim: Claim, request: Request): Promise<unknown> {
    return this.#session.run(operation, claim.id, request, () => this.#ownClaims.unanswered(claim));
  }
}

/** Is this value a mark? A claim or no value is none; anything else is not for us to judge. */
function isMark(value: unknown, operation: string, id: string): boolean {
  if (value === mark) return true;
  if (value === null || (typeof value === "string" && isClaimValue(value))) return false;
  throw unknownValue(value, operation, id);
}

function requireLease(leaseMs: unknown): void {
  requireInteger("leaseMs", leaseMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
}
