import { types } from "node:util";
import type { TransactResult } from "@bq/idempotency-core";
import {
  type Awaitable,
  isThenable,
  StoreError,
  storageKey,
  toStoreError,
} from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { type Connection, Locked } from "./connection.ts";
import { look, writeMark } from "./marks.ts";

/** What the transaction came to; an error of the work is kept apart from a locked database, which is tried again. */
type Outcome<R> = TransactResult<R> | { readonly status: "failed"; readonly error: unknown };

/** Runs the work and writes the mark in one transaction, which takes the write lock at its beginning. */
export async function transact<R>(
  connection: Connection,
  id: string | undefined,
  work: (tx: Sqlite.Database) => Awaitable<R>,
): Promise<TransactResult<R>> {
  const key = id === undefined ? undefined : storageKey(id);
  if (typeof work !== "function") throw new TypeError("transact: work must be a function.");
  // Refused before it has run at all: what it does after its first await would not be in the transaction.
  if (types.isAsyncFunction(work)) throw notSynchronous();
  const outcome = await connection.retrying({ name: "transact", id }, () => attempt(connection, key, work));
  if (outcome.status === "failed") throw outcome.error;
  return outcome;
}

function attempt<R>(
  connection: Connection,
  key: string | undefined,
  work: (tx: Sqlite.Database) => Awaitable<R>,
): Outcome<R> {
  const { database } = connection;
  // What was called before it for the same id comes first.
  if (key !== undefined && connection.holds([key])) throw new Locked("a write of the same id waits");
  // Without a lock, so that redeliveries of what is long processed keep nobody waiting.
  const before = connection.withoutSleep(() => lookAt(connection, key));
  if (before.status !== "absent") return before;
  // SQLite refuses to turn a read into a write when another connection wrote in between, however long it may wait: the
  // write lock comes first.
  connection.withoutSleep(() => database.exec("BEGIN IMMEDIATE"));
  try {
    const state = asStore(() => lookAt(connection, key));
    if (state.status !== "absent") {
      database.exec("ROLLBACK");
      return state;
    }
    const value = markAndWork(connection, key, work);
    asStore(() => database.exec("COMMIT"));
    return { status: "ran", value };
  } catch (error) {
    return { status: "failed", error: rollBack(database, error) };
  }
}

function lookAt({ statements }: Connection, key: string | undefined): ReturnType<typeof look> {
  return key === undefined ? { status: "absent" } : look(statements, key);
}

function markAndWork<R>(
  { database, statements, settings }: Connection,
  key: string | undefined,
  work: (tx: Sqlite.Database) => Awaitable<R>,
): R {
  // A savepoint is gone when the work ends the transaction, even if it begins another one.
  asStore(() => database.exec("SAVEPOINT bq_work"));
  if (key !== undefined) asStore(() => writeMark(statements, key, settings));
  let value: Awaitable<R>;
  try {
    value = work(database);
  } catch (error) {
    if (savepointIsThere(database)) throw error;
    throw endedByWork(error);
  }
  if (isThenable(value)) {
    // Nobody else will listen to it, and its rejection must not end the process.
    Promise.resolve(value).catch(() => undefined);
    throw notSynchronous();
  }
  if (!savepointIsThere(database)) throw endedByWork();
  return value;
}

function savepointIsThere(database: Sqlite.Database): boolean {
  if (!database.inTransaction) return false;
  try {
    database.exec("RELEASE bq_work");
    return true;
  } catch (error) {
    // Any other error, such as that of a query which the work has left half read, meets the COMMIT as well.
    return !(error instanceof Error && error.message.includes("no such savepoint"));
  }
}

/** What fails here is the store, and not the work. */
function asStore<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toStoreError(error, "transact");
  }
}

/** Gives the error to tell: the one that led here, or the one of a rollback that failed. */
function rollBack(database: Sqlite.Database, error: unknown): unknown {
  if (!database.open || !database.inTransaction) return error;
  try {
    database.exec("ROLLBACK");
    return error;
  } catch {
    return rollBackDespiteIterator(database, error);
  }
}

/**
 * The driver refuses a ROLLBACK while the work has left a query half read, and the write lock would be held for ever. Its
 * unsafe mode lifts that; it was off, or the ROLLBACK would not have been refused.
 */
function rollBackDespiteIterator(database: Sqlite.Database, error: unknown): unknown {
  try {
    database.unsafeMode(true);
    database.exec("ROLLBACK");
    return error;
  } catch (failure) {
    return new StoreError(
      "The transaction could not be rolled back, and its connection still holds the write lock: close it.",
      { operation: "transact", cause: new AggregateError([failure, error]) },
    );
  } finally {
    if (database.open) database.unsafeMode(false);
  }
}

function notSynchronous(): TypeError {
  return new TypeError(
    "transact: work must be synchronous, for a transaction of SQLite ends with the call; this work returned a promise, so it was rolled back. Await first and transact after, or use wrapClaiming.",
  );
}

function endedByWork(cause?: unknown): StoreError {
  return new StoreError(
    "The transaction was over before the work was: the work ran COMMIT or ROLLBACK, or an error made SQLite roll it back. What it did after that is not tied to the mark.",
    { operation: "transact", ...(cause === undefined ? {} : { cause }) },
  );
}
