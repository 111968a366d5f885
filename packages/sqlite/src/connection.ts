import { type Awaitable, toStoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { driverWaitMs, isBusy, pauseAfter } from "./busy.ts";
import { closedError, inTransactionError, lockedError, type Operation } from "./operation.ts";
import type { Settings } from "./options.ts";
import { OwnersTimeout } from "./owners-timeout.ts";
import { requireTable } from "./schema.ts";
import { prepareStatements, type Statements } from "./statements.ts";
import { WriteQueue } from "./write-queue.ts";

/** An attempt found the database locked, and is to be made again. */
export class Locked {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/**
 * A connection as the store uses it: a read answers at once where it can, writes are performed in groups, all wait in pauses
 * while the database is locked, and what is called where its answer could be taken back later is refused.
 */
export class Connection {
  readonly database: Sqlite.Database;
  readonly settings: Settings;
  readonly #owned: boolean;
  readonly #timeout: OwnersTimeout | undefined;
  readonly #writes: WriteQueue;
  readonly #waiting = new Set<Promise<unknown>>();
  #statements: Statements | undefined;
  #closing = false;
  #ended: Promise<void> | undefined;

  constructor(database: Sqlite.Database, settings: Settings, owned: boolean) {
    this.database = database;
    this.settings = settings;
    this.#owned = owned;
    this.#timeout = owned ? undefined : new OwnersTimeout(database, driverWaitMs);
    this.#writes = new WriteQueue({
      database,
      busyTimeoutMs: settings.busyTimeoutMs,
      withoutSleep: (act) => this.withoutSleep(act),
    });
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

  /** Does it in one transaction with the other writes of this turn, and answers when that is on the disk. */
  write<T>(operation: Operation, keys: readonly string[], act: () => T): Promise<T> {
    this.#accept(operation);
    return this.#writes.add(operation, keys, act);
  }

  /** Does it at once, unless a write of one of these keys was called before it and is still to be performed. */
  read<T>(operation: Operation, keys: readonly string[], act: () => T): Awaitable<T> {
    return this.holds(keys) ? this.write(operation, keys, act) : this.run(operation, act);
  }

  /** Answers with what a look tells at once, if it tells anything; otherwise it is a write. */
  writeUnless<T>(
    operation: Operation,
    keys: readonly string[],
    look: () => T | undefined,
    act: () => T,
  ): Awaitable<T> {
    this.#accept(operation);
    const known = this.holds(keys) ? undefined : this.#attempt(operation, () => this.withoutSleep(look));
    return known === undefined || known instanceof Locked ? this.write(operation, keys, act) : known;
  }

  /** Is there a write of one of these keys that is still to be performed? */
  holds(keys: readonly string[]): boolean {
    return this.#writes.holds(keys);
  }

  /** Does it at once where it can, and again after a pause while the database is locked. */
  run<T>(operation: Operation, act: () => T): Awaitable<T> {
    return this.retrying(operation, () => this.withoutSleep(act));
  }

  /** As `run`, for an act that says by `withoutSleep` which of its parts may meet a lock. */
  retrying<T>(operation: Operation, act: () => T): Awaitable<T> {
    this.#accept(operation);
    const answer = this.#attempt(operation, act);
    return answer instanceof Locked ? this.#keep(this.#wait(operation, act, answer)) : answer;
  }

  /** Calls `act` with a driver that does not sleep on a lock. */
  withoutSleep<T>(act: () => T): T {
    return this.#timeout === undefined ? act() : this.#timeout.shortened(act);
  }

  /** Lets what was called before come to its end, then ends the connection if it is ours. */
  close(): Promise<void> {
    this.#closing = true;
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    // Not from inside the work of a transaction, which would take the transaction with it.
    await undefined;
    await this.#writes.emptied();
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
      this.#requireFree(operation);
      const answer = this.#attempt(operation, act);
      if (!(answer instanceof Locked)) return answer;
      locked = answer;
    }
    throw lockedError(operation, busyTimeoutMs, locked.cause);
  }

  #accept(operation: Operation): void {
    if (this.#closing) throw closedError(operation);
    this.#requireFree(operation);
  }

  #requireFree(operation: Operation): void {
    if (!this.database.open) throw closedError(operation);
    if (this.database.inTransaction) throw inTransactionError(operation);
  }

  #attempt<T>(operation: Operation, act: () => T): T | Locked {
    try {
      return act();
    } catch (error) {
      if (error instanceof Locked) return error;
      if (isBusy(error)) return new Locked(error);
      throw toStoreError(error, operation.name, operation.id);
    }
  }
}
