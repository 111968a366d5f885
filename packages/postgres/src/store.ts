import type {
  Awaitable,
  BatchStore,
  Claim,
  ClaimingStore,
  ClaimResult,
  Finding,
  TransactionalStore,
  TransactResult,
} from "@bq/idempotency-core";
import type postgres from "postgres";
import { check } from "./check.ts";
import { Claims } from "./claims.ts";
import { connect } from "./connect.ts";
import { requireClient, requireTransaction } from "./given-client.ts";
import { Marks } from "./marks.ts";
import { OpenCalls } from "./open-calls.ts";
import {
  type PostgresConnectOptions,
  type PostgresStoreOptions,
  readConnectOptions,
  readStoreOptions,
  type Settings,
} from "./options.ts";
import { PoolWatch } from "./pool-watch.ts";
import { type PurgeEveryOptions, type PurgeOptions, PurgeSchedule, purge, readBatchSize } from "./purge.ts";
import { ddl, migrate } from "./schema.ts";
import { Table } from "./table.ts";
import { Transactions } from "./transaction.ts";

/** How long `close` waits for the calls that are under way, in milliseconds. */
const closeLimitMs = 5_000;

/**
 * Marks and claims in a table of Postgres 13 or newer, through postgres.js. Expiry is judged by the server's clock. Single calls
 * that arrive while others of their kind are under way share a statement.
 *
 * `Types` are the custom types of a borrowed client, which `tx` has as well.
 *
 * Every method rejects with `TypeError` for an unusable id and with `StoreError` when the server cannot do it.
 *
 * @example
 * const store = await PostgresStore.connect(url, { ttlMs: 7 * 24 * 3_600_000 });
 * await store.migrate();
 * const onOrder = wrapTransactional(store, async (message, tx) => {
 *   await tx`INSERT INTO orders ${tx(message.data)}`;
 * });
 */
export class PostgresStore<Types extends Record<string, unknown> = Record<never, never>>
  implements BatchStore, ClaimingStore, TransactionalStore<postgres.TransactionSql<Types>>
{
  readonly #sql: postgres.Sql;
  readonly #settings: Settings;
  readonly #table: Table;
  readonly #marks: Marks;
  readonly #claims: Claims;
  readonly #transactions: Transactions;
  readonly #pool: PoolWatch;
  readonly #calls: OpenCalls;
  readonly #schedules = new Set<PurgeSchedule>();
  #endClient: () => Promise<void> = async () => {};
  #closing: Promise<void> | undefined;

  /**
   * Works through a client of yours, whatever its options are. `close` leaves it open.
   *
   * @throws {TypeError | RangeError} for an option that is unknown or out of range
   */
  constructor(sql: postgres.Sql<Types>, options?: PostgresStoreOptions) {
    this.#settings = readStoreOptions(options);
    this.#sql = requireClient(sql);
    this.#pool = PoolWatch.of(this.#sql);
    this.#calls = new OpenCalls(this.#pool);
    this.#table = Table.of(this.#sql, this.#settings);
    this.#marks = new Marks(this.#table);
    this.#claims = new Claims(this.#table);
    this.#transactions = new Transactions(this.#sql, this.#table);
  }

  /**
   * Works through a client of its own, which `close` ends. For other settings than these make the client yourself.
   *
   * @param url `postgres://user:password@host:port/database`
   * @throws {TypeError | RangeError} for an option that is unknown or out of range
   * @throws {StoreError} when the server does not answer within `connectTimeoutMs`
   */
  static async connect(url: string, options: PostgresConnectOptions = {}): Promise<PostgresStore> {
    const { client, store } = readConnectOptions(options);
    // Before there is a client that nobody could end.
    readStoreOptions(store);
    const sql = await connect(url, client);
    const connected = new PostgresStore(sql, store);
    connected.#endClient = () => sql.end({ timeout: 1 });
    return connected;
  }

  /** Is there a live mark? A claim is not a mark. */
  seen(id: string): Promise<boolean> {
    return this.#calls.run("seen", id, () => this.#marks.seen(id));
  }

  /** One answer per id, in the order of the ids, from one statement. */
  seenMany(ids: readonly string[]): Promise<boolean[]> {
    return this.#calls.run("seenMany", undefined, () => this.#marks.seenMany(ids));
  }

  /** Writes the mark, from any state, and starts its TTL anew. */
  remember(id: string): Promise<void> {
    return this.#calls.run("remember", id, () => this.#marks.remember(id));
  }

  /** Writes all marks, or none of them, in one statement. */
  rememberMany(ids: readonly string[]): Promise<void> {
    return this.#calls.run("rememberMany", undefined, () => this.#marks.rememberMany(ids));
  }

  /** Drops the mark and any claim, so that the next delivery runs. */
  forget(id: string): Promise<void> {
    return this.#calls.run("forget", id, () => this.#marks.forget(id));
  }

  /** Takes the id for `leaseMs` milliseconds if it is free. */
  claim(id: string, leaseMs: number): Promise<ClaimResult> {
    return this.#calls.run("claim", id, () => this.#claims.claim(id, leaseMs));
  }

  /** Starts the lease anew; `false` when the claim is no longer ours. */
  renew(claim: Claim, leaseMs: number): Promise<boolean> {
    return this.#calls.run("renew", claim?.id, () => this.#claims.renew(claim, leaseMs));
  }

  /** Writes the mark in any case, for the effect did happen; `false` when the claim was no longer ours. */
  commit(claim: Claim): Promise<boolean> {
    return this.#calls.run("commit", claim?.id, () => this.#claims.commit(claim));
  }

  /** Drops our own, uncommitted claim; otherwise changes nothing and answers `false`. */
  release(claim: Claim): Promise<boolean> {
    return this.#calls.run("release", claim?.id, () => this.#claims.release(claim));
  }

  /**
   * Runs the work once for its id, in a transaction that also writes the mark: what the work wrote through `tx` is kept with
   * the mark, or neither is. A concurrent duplicate waits for the outcome, at most `lockTimeoutMs`, then answers `in-flight`.
   * Without an id there is no mark, and the work runs every time. `tx` closes when the work settles.
   *
   * The work runs again, up to `retries` times, when the server gave the transaction up for a serialization failure or a
   * deadlock. Anything else that it throws passes through.
   *
   * @throws {StoreError} when the transaction did not commit; with the code `BQ_COMMIT_UNKNOWN` when nobody can say
   *
   * @example
   * await store.transact(message.meta.id, (tx) => tx`INSERT INTO orders ${tx(message.data)}`);
   */
  transact<R>(
    id: string | undefined,
    work: (tx: postgres.TransactionSql<Types>) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    // The types are those of the client, which makes the statements of its transactions.
    const held = (tx: postgres.TransactionSql): Promise<R> =>
      this.#pool.hold(() => work(tx as unknown as postgres.TransactionSql<Types>));
    return this.#calls.run("transact", id, () => this.#transactions.run(id, held));
  }

  /**
   * The store inside a transaction that the caller opened: what it writes is kept or dropped with that. Call `markFirst` before
   * the effect. A duplicate does not abort the transaction; after any other error it can only be rolled back.
   *
   * @throws {TypeError} for a client that is in no transaction
   */
  within(tx: postgres.TransactionSql<Types>): Marks {
    return new Marks(this.#table.within(requireTransaction(tx)));
  }

  /** The SQL that makes the table, for a migration tool of your own. */
  ddl(): string {
    return ddl(this.#settings.table);
  }

  /**
   * Makes the table, or adds the columns that one made by the Go store lacks. Any number of workers may run it at once; with
   * nothing to change it takes no lock and needs no right to change tables.
   *
   * @throws {StoreError} with the code `BQ_STORE_SCHEMA` when the table is of another shape, or may not be made
   */
  migrate(): Promise<void> {
    return this.#calls.run("migrate", undefined, () => migrate(this.#sql, this.#settings));
  }

  /** What an operator should mend on the server and the table. An empty list means that marks are safe. */
  check(): Promise<Finding[]> {
    return this.#calls.run("check", undefined, () => check(this.#sql, this.#settings.table));
  }

  /** Deletes expired marks and lapsed claims, and tells how many. It passes over rows in use and so waits for nobody. */
  purge(options?: PurgeOptions): Promise<number> {
    return this.#calls.run("purge", undefined, async () =>
      purge(this.#table, readBatchSize(options), () => this.#calls.closed),
    );
  }

  /**
   * Purges every `intervalMs` milliseconds, counted from the end of the purge before, until `close` or the function that it
   * returns is called. It does not keep the process alive.
   *
   * @throws {StoreError} with the code `BQ_STORE_CLOSED` once the store was closed
   */
  purgeEvery(intervalMs: number, options?: PurgeEveryOptions): () => void {
    this.#calls.requireOpen("purgeEvery");
    const schedule = new PurgeSchedule(intervalMs, options, (batch) => this.purge(batch));
    this.#schedules.add(schedule);
    return () => {
      schedule.stop();
      this.#schedules.delete(schedule);
    };
  }

  /** Refuses further calls, waits up to 5 seconds for those under way, and ends the client if it is the store's own. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** `close`, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    for (const schedule of this.#schedules) schedule.stop();
    this.#schedules.clear();
    await this.#calls.close(closeLimitMs);
    await this.#endClient();
  }
}
