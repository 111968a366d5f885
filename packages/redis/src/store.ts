import type { BatchStore, Claim, ClaimingStore, ClaimResult, Finding } from "@bq/idempotency-core";
import { maxTimerMs, newToken, requireClaim, requireInteger, storageKey } from "@bq/idempotency-core/backend";
import { type Keys, rememberMany, seenMany } from "./batch.ts";
import type { Answer } from "./call.ts";
import { Calls } from "./calls.ts";
import { checkServers } from "./check.ts";
import { keyPrefixOf, type RedisClient, requireClient } from "./client.ts";
import { type ClusterNode, connect } from "./connect.ts";
import {
  type RedisConnectOptions,
  type RedisStoreOptions,
  readConnectOptions,
  readOptions,
  type Settings,
} from "./options.ts";
import { OwnClaims } from "./own-claims.ts";
import { Session } from "./session.ts";
import { holdsHashTag } from "./slots.ts";

/**
 * Remembers ids in Redis or Valkey: one server, Sentinel or a cluster, shared by all workers. A call alone is one command on
 * one key, calls that arrive together are one script, and the server's clock decides what has expired.
 *
 * @example
 * const store = await RedisStore.connect("redis://localhost:6379", { ttlMs: 7 * 24 * 3_600_000 });
 * const onOrder = wrap(store, handler);
 */
export class RedisStore implements BatchStore, ClaimingStore {
  readonly #client: RedisClient;
  readonly #settings: Settings;
  readonly #keys: Keys;
  readonly #session: Session;
  readonly #ownClaims: OwnClaims;
  readonly #calls: Calls;

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
    store.#session.own(connection);
    return store;
  }

  /**
   * Works on a client of the caller's, who also ends it: `close` does not.
   *
   * @param client an ioredis `Redis`, with or without Sentinel, or a `Cluster`
   * @throws {TypeError | RangeError} for another client, or an option that is unknown or out of range
   */
  constructor(client: RedisClient, options?: RedisStoreOptions) {
    requireClient(client);
    this.#client = client;
    this.#settings = readOptions(options);
    const { prefix, ttlMs } = this.#settings;
    const clusterPrefix = client.isCluster ? keyPrefixOf(client) : undefined;
    this.#keys = { of: (id) => prefix + storageKey(id), clusterPrefix };
    this.#session = new Session(client);
    this.#ownClaims = new OwnClaims(client);
    const together = clusterPrefix === undefined || holdsHashTag(clusterPrefix + prefix);
    this.#calls = new Calls(this.#session, this.#ownClaims, { ttlMs, together });
  }

  async seen(id: string): Promise<boolean> {
    return (await this.#ask("seen", id)) === "yes";
  }

  async seenMany(ids: readonly string[]): Promise<boolean[]> {
    return seenMany(this.#session, this.#keys, ids);
  }

  async remember(id: string): Promise<void> {
    await this.#ask("remember", id);
  }

  /**
   * Writes all marks or none on a single server. On a cluster that holds for the ids of each slot: when some slots fail, the
   * error says how many ids have no mark, and the call may be repeated.
   */
  async rememberMany(ids: readonly string[]): Promise<void> {
    await rememberMany(this.#session, this.#keys, ids, this.#settings.ttlMs);
  }

  async forget(id: string): Promise<void> {
    await this.#ask("forget", id);
  }

  async claim(id: string, leaseMs: number): Promise<ClaimResult> {
    requireLease(leaseMs);
    const key = this.#keys.of(id);
    const claim: Claim = Object.freeze({ id, token: newToken() });
    const madeAt = performance.now();
    const found = await this.#calls.submit({ operation: "claim", id, key, madeAt, claim, leaseMs });
    if (found === "mark") return { status: "processed" };
    if (found !== "ours") return { status: "in-flight", retryAfterMs: Math.max(1, Number(found)) };
    this.#ownClaims.granted(claim, leaseMs, madeAt);
    return { status: "claimed", claim };
  }

  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    requireClaim(claim);
    requireLease(leaseMs);
    const { id } = claim;
    const madeAt = performance.now();
    const call = { operation: "renew", id, key: this.#keys.of(id), madeAt, claim, leaseMs } as const;
    if ((await this.#calls.submit(call)) !== "yes") return false;
    this.#ownClaims.granted(claim, leaseMs, madeAt);
    return true;
  }

  async commit(claim: Claim): Promise<boolean> {
    const ours = this.#ownClaims.mayFindOwnWork(claim);
    const found = await this.#settle("commit", claim);
    return found === "ours" || (found === "mark" && ours());
  }

  async release(claim: Claim): Promise<boolean> {
    const ours = this.#ownClaims.mayFindOwnWork(claim);
    return (await this.#settle("release", claim)) === "yes" || ours();
  }

  /** What an operator should know or mend about the server, or each primary of the cluster. Changes nothing. */
  async check(): Promise<Finding[]> {
    return this.#session.attempt("check", () => checkServers(this.#client, this.#settings));
  }

  /**
   * Waits for the operations under way, at most 5 seconds on a client of the caller's, then ends the connection if it is the
   * store's own. Afterwards every operation fails with `BQ_STORE_CLOSED`. May be called more than once.
   */
  close(): Promise<void> {
    return this.#session.close();
  }

  /** `close`, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #ask(operation: "seen" | "remember" | "forget", id: string): Promise<Answer> {
    return this.#calls.submit({ operation, id, key: this.#keys.of(id), madeAt: performance.now() });
  }

  async #settle(operation: "commit" | "release", claim: Claim): Promise<Answer> {
    requireClaim(claim);
    const { id } = claim;
    return this.#calls.submit({ operation, id, key: this.#keys.of(id), madeAt: performance.now(), claim });
  }
}

function requireLease(leaseMs: unknown): void {
  requireInteger("leaseMs", leaseMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
}
