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
import { maxTimerMs, requireClaim, requireInteger, show, storageKey } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { findings } from "./check.ts";
import * as claims from "./claims.ts";
import { Connection } from "./connection.ts";
import { inOrder, keysOf } from "./keys.ts";
import { expiry, look, writeMark } from "./marks.ts";
import { migrate } from "./migrate.ts";
import { openConnection } from "./open.ts";
import { readOptions, type SqliteStoreOptions } from "./options.ts";
import { type PurgeEveryOptions, type PurgeOptions, purge, purgeEvery, readBatchSize } from "./purge.ts";
import { createTable } from "./schema.ts";
import { readState } from "./state.ts";
import { transact } from "./transaction.ts";
import { StoreInTransaction } from "./within.ts";

/**
 * Marks and claims in a table of an SQLite file, which any number of processes of one machine may share. Made by
 * `SqliteStore.connect`, which opens a connection of its own, or with a connection that you opened.
 *
 * Writes that are called in one turn of the event loop share one transaction and one sync of the disk, and answer when that is
 * done. Reads answer at once, without a promise, unless a write of the same id was called before and is not done. While the
 * database is locked, both wait up to `busyTimeoutMs`. What the database cannot do is told by a `StoreError`, thrown at once
 * or by the promise.
 */
export class SqliteStore implements BatchStore, ClaimingStore, TransactionalStore<Sqlite.Database> {
  #connection: Connection;

  /**
   * A store on a connection of yours, which stays yours: `close` does not end it, its settings stay as they are (`check` says
   * what is wrong with them), and its table is made by `migrate`.
   *
   * @throws {TypeError | RangeError} for an option that is unknown or out of range, or something that is no connection
   */
  constructor(database: Sqlite.Database, options?: SqliteStoreOptions) {
    requireDatabase(database);
    this.#connection = new Connection(database, readOptions(options), false);
  }

  /**
   * Opens the file, creates it and the table where they are missing, and sets WAL and `synchronous = FULL`.
   *
   * @param path the file; its folder must exist
   * @throws {TypeError | RangeError} for a bad option
   * @throws {StoreError} when the file cannot be opened, or holds a table of
   *   another shape
   *
   * @example
   * const store = await SqliteStore.connect("./marks.db", { ttlMs: 7 * 24 * 3_600_000 });
   */
  static async connect(path: string, options?: SqliteStoreOptions): Promise<SqliteStore> {
    const connection = await openConnection(path, readOptions(options));
    const store = new SqliteStore(connection.database);
    store.#connection = connection;
    return store;
  }

  seen(id: string): Awaitable<boolean> {
    const key = storageKey(id);
    const connection = this.#connection;
    return connection.read(
      { name: "seen", id },
      [key],
      () => look(connection.statements, key).status === "processed",
    );
  }

  remember(id: string): Promise<void> {
    const key = storageKey(id);
    const connection = this.#connection;
    return connection.write({ name: "remember", id }, [key], () =>
      writeMark(connection.statements, key, connection.settings),
    );
  }

  forget(id: string): Promise<void> {
    const key = storageKey(id);
    const connection = this.#connection;
    return connection.write({ name: "forget", id }, [key], () => {
      connection.statements.forget.run(key);
    });
  }

  seenMany(ids: readonly string[]): Awaitable<boolean[]> {
    const keys = keysOf(ids);
    if (keys.length === 0) return [];
    const connection = this.#connection;
    return connection.read({ name: "seenMany" }, keys, () => {
      const rows = connection.statements.readMany.all(JSON.stringify(inOrder(keys)));
      const now = Date.now();
      const states = new Map(rows.map(([key, ...row]) => [key, readState(key, row, now)]));
      return keys.map((key) => states.get(key)?.status === "processed");
    });
  }

  rememberMany(ids: readonly string[]): Awaitable<void> {
    const keys = inOrder(keysOf(ids));
    if (keys.length === 0) return undefined;
    const connection = this.#connection;
    return connection.write({ name: "rememberMany" }, keys, () => {
      const now = Date.now();
      connection.statements.markMany.run(now, expiry(now, connection.settings), JSON.stringify(keys));
    });
  }

  claim(id: string, leaseMs: number): Awaitable<ClaimResult> {
    const key = storageKey(id);
    requireLease(leaseMs);
    const connection = this.#connection;
    return connection.writeUnless(
      { name: "claim", id },
      [key],
      () => claims.standing(connection, key),
      () => claims.claim(connection, id, key, leaseMs),
    );
  }

  renew(claim: Claim, leaseMs: number): Promise<boolean> {
    requireClaim(claim);
    requireLease(leaseMs);
    return this.#withClaim("renew", claim, (ours, key) => claims.renew(this.#connection, ours, key, leaseMs));
  }

  commit(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    return this.#withClaim("commit", claim, (ours, key) => claims.commit(this.#connection, ours, key));
  }

  release(claim: Claim): Promise<boolean> {
    requireClaim(claim);
    return this.#withClaim("release", claim, (ours, key) => claims.release(this.#connection, ours, key));
  }

  /**
   * Runs `work` in a transaction that also writes the mark: both are kept, or neither. The transaction is begun with
   * `BEGIN IMMEDIATE`, so it waits for other writers first and then meets none.
   *
   * @param id without one, the work runs in a transaction that writes no mark
   * @param work is given the connection, and must be synchronous; what it throws is passed on, and rolls back
   * @throws {TypeError} when the work returns a promise, after it was rolled back; what it does later is in no transaction
   * @throws {StoreError} when the transaction did not commit, or the work ended it itself
   *
   * @example
   * await store.transact(id, (tx) => tx.prepare("UPDATE stock SET count = count - 1 WHERE sku = ?").run(sku));
   */
  transact<R>(
    id: string | undefined,
    work: (tx: Sqlite.Database) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    return transact(this.#connection, id, work);
  }

  /**
   * The same table inside a transaction that you opened, on this connection or on another one to the same file: the mark is
   * kept or dropped with the transaction. Begin it with `BEGIN IMMEDIATE` (`database.transaction(work).immediate()`), or a
   * write may fail at once with SQLITE_BUSY.
   */
  within(tx: Sqlite.Database): StoreInTransaction {
    requireDatabase(tx);
    return new StoreInTransaction(tx, this.#connection.settings);
  }

  /** Creates the table or adds the columns it lacks; a table of another shape is refused. Many processes may do it at once. */
  migrate(): Promise<void> {
    return migrate(this.#connection);
  }

  /** The SQL that creates the table. */
  ddl(): string {
    return createTable(this.#connection.settings);
  }

  /** Deletes expired marks and lapsed claims, in small batches with pauses, and tells how many. May run beside the workload. */
  async purge(options?: PurgeOptions): Promise<number> {
    return purge(this.#connection, readBatchSize(options));
  }

  /**
   * Purges every `intervalMs` milliseconds, without keeping the process alive, until the store is closed or the function that
   * it answers with is called.
   *
   * @throws {StoreError} with the code `BQ_STORE_CLOSED` once the store was closed
   */
  purgeEvery(intervalMs: number, options?: PurgeEveryOptions): () => void {
    return purgeEvery(this.#connection, intervalMs, options);
  }

  /** What an operator should know or mend: settings under which marks are lost, a missing table. Empty: all is well. */
  async check(): Promise<Finding[]> {
    return this.#connection.run({ name: "check" }, () =>
      findings(this.#connection.database, this.#connection.settings),
    );
  }

  /**
   * Lets what was called before come to its end and refuses new calls with `BQ_STORE_CLOSED`; then ends the
   * connection if `connect` opened it. May be called again.
   */
  close(): Promise<void> {
    return this.#connection.close();
  }

  /** `close`, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #withClaim(
    name: string,
    { id, token }: Claim,
    act: (claim: Claim, key: string) => boolean,
  ): Promise<boolean> {
    const key = storageKey(id);
    return this.#connection.write({ name, id }, [key], () => act({ id, token }, key));
  }
}

function requireLease(leaseMs: unknown): void {
  requireInteger("leaseMs", leaseMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
}

function requireDatabase(database: unknown): void {
  const { prepare, unsafeMode, inTransaction } = (database ?? {}) as Partial<Sqlite.Database>;
  if (
    typeof prepare !== "function" ||
    typeof unsafeMode !== "function" ||
    typeof inTransaction !== "boolean"
  ) {
    throw new TypeError(`SqliteStore: a Database of better-sqlite3 is needed, got ${show(database)}.`);
  }
}
