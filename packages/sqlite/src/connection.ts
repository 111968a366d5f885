import { type Awaitable, quoteId, StoreError, toStoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { driverWaitMs, isBusy, pauseAfter } from "./busy.ts";
import type { Settings } from "./options.ts";
import { OwnersTimeout } from "./owners-timeout.ts";
import { requireTable } from "./schema.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** One thing to do with the database; `id` is the message that it is about. */
export interface Operation {
  readonly name: string;
  readonly id?: string | undefined;
}

/** The attempt found the database locked. */
class Locked {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/**
 * A connection as the store uses it: an operation answers at once where it can, waits in pauses while the database is locked,
 * and is refused where its answer could be taken back later.
 */
export class Connection {
  readonly database: Sqlite.Database;
  readonly settings: Settings;
  readonly #owned: boolean;
  readonly #timeout: OwnersTimeout | undefined;
  readonly #waiting = new Set<Promise<unknown>>();
  #statements: Statements | undefined;
  #closing = false;
  #ended: Promise<void> | undefined;

  constructor(database: Sqlite.Database, settings: Settings, owned: boolean) {
    this.database = database;
    this.settings = settings;
    this.#owned = owned;
    this.#timeout = owned ? undefined : new OwnersTimeout(database, driverWaitMs);
  }

  /** Prepared at first use, since the table may be created after the store. Checks the table then. */
  get statements(): Statements {
    if (this.#statements === undefined) {
      requireTable(this.database, this.settings);
      this.#statements = prepareStatements(this.database, this.settings.table);
    }
    return this.#statements;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Does it at once where it can, and again after a pause while the database is locked. */
  run<T>(operation: Operation, act: () => T): Awaitable<T> {
    return this.retrying(operation, () => this.withoutSleep(act));
  }

  /** As `run`, for an act that says by `withoutSleep` which of its parts may meet a lock. */
  retrying<T>(operation: Operation, act: () => T): Awaitable<T> {
    if (this.#closing) throw closedError(operation);
    const answer = this.#attempt(operation, act);
    return answer instanceof Locked ? this.#keep(this.#wait(operation, act, answer)) : answer;
  }

  /** Calls `act` with a driver that does not sleep on a lock. */
  withoutSleep<T>(act: () => T): T {
    return this.#timeout === undefined ? act() : this.#timeout.shortened(act);
  }

  /** Lets what is waiting for a lock come to its end, then ends the connection if it is ours. */
  close(): Promise<void> {
    this.#closing = true;
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    // Not from inside the work of a transaction, which would take the transaction with it.
    await undefined;
    while (this.#waiting.size > 0) await Promise.allSettled(this.#waiting);
    if (!this.#owned || !this.database.open) return;
    try {
      this.database.close();
    } catch (error) {
      // A query that is half read keeps the driver from it: the next call may succeed.
      this.#ended = undefined;
      throw toStoreError(error, "close");
    }
  }

  #keep<T>(answer: Promise<T>): Promise<T> {
    this.#waiting.add(answer);
    const done = (): boolean => this.#waiting.delete(answer);
    answer.then(done, done);
    return answer;
  }

  async #wait<T>(operation: Operation, act: () => T, first: Locked): Promise<T> {
    const { busyTimeoutMs } = this.settings;
    const startedAt = performance.now();
    let locked = first;
    for (let attempts = 1; performance.now() - startedAt < busyTimeoutMs; attempts++) {
      await pauseAfter(attempts);
      const answer = this.#attempt(operation, act);
      if (!(answer instanceof Locked)) return answer;
      locked = answer;
    }
    throw new StoreError(
      `The database was locked for all of the ${busyTimeoutMs} ms (busyTimeoutMs) that ${operation.name}${of(operation)} waited. Another connection holds it: look for a long transaction, or raise busyTimeoutMs.`,
      { operation: operation.name, id: operation.id, cause: locked.cause },
    );
  }

  #attempt<T>(operation: Operation, act: () => T): T | Locked {
    if (!this.database.open) throw closedError(operation);
    if (this.database.inTransaction) throw inTransactionError(operation);
    try {
      return act();
    } catch (error) {
      if (isBusy(error)) return new Locked(error);
      throw toStoreError(error, operation.name, operation.id);
    }
  }
}

function closedError({ name, id }: Operation): StoreError {
  return new StoreError(`The store is closed: ${name}${of({ name, id })} was refused and changed nothing.`, {
    operation: name,
    id,
    code: "BQ_STORE_CLOSED",
  });
}

function inTransactionError({ name, id }: Operation): StoreError {
  const way =
    name === "transact"
      ? "Transactions of SQLite do not nest: call transact outside, or mark the id with store.within(tx)."
      : "Its rollback would take back what the store has answered. Inside a transaction use store.within(tx), outside end the transaction first.";
  return new StoreError(
    `${name}${of({ name, id })} was called while its connection is in a transaction. ${way}`,
    {
      operation: name,
      id,
    },
  );
}

function of({ id }: Operation): string {
  return id === undefined ? "" : ` of ${quoteId(id)}`;
}
