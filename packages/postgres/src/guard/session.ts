import { StoreError, type StoreErrorCode } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import {
  cancel,
  type DriverConnection,
  type DriverQuery,
  destroy,
  type Hold,
  ownQuery,
  takeOffList,
} from "./driver.ts";
import { offerConnection } from "./offer.ts";

/**
 * One transaction on one connection of the pool.
 *
 * It rests on two things that the driver does before any code of the user's can run: it sets the connection's `reserved` to null
 * when the socket closes, and when the server reports that it is in no transaction. A statement is sent only while `reserved` is
 * ours, and only after the server answered the one before it and reported the transaction open. So it goes to the session
 * that BEGIN went to, inside that transaction, or nowhere: a session whose death nobody has noticed yet loses it as well. One
 * statement alone may go out right behind BEGIN, one that sees to it by itself that it is in the transaction.
 */
export class GuardedSession {
  /** How many savepoints were set: the number in the next one's name. */
  savepoints = 0;
  readonly #sql: postgres.Sql;
  readonly #id: string | undefined;
  readonly #hold: Hold;
  readonly #waiting: DriverQuery[] = [];
  readonly #failures: WeakSet<object> = new WeakSet();
  #connection: DriverConnection | undefined;
  /** The statement under way. */
  #current: DriverQuery | undefined;
  #commit: DriverQuery | undefined;
  #reported: "in transaction" | "idle" = "idle";
  /** The server awaits a statement, in the transaction. */
  #ready = false;
  /**
   * BEGIN, while statements of others are under way on the connection: the driver repeats some that failed, which would then be
   * part of our transaction, and it may take the answers to some for those to others.
   */
  #waitingBegin: DriverQuery | undefined;
  /** BEGIN was sent, and a statement may follow in the same packet. */
  #mayFollow = false;
  #follows = false;
  /** The server reported the transaction open. */
  #begun = false;
  #finishing = false;
  #over = false;
  /** What ended the transaction, when it was neither COMMIT nor ROLLBACK. */
  #broken: StoreError | undefined;
  #whenDrained: (() => void)[] = [];

  constructor(sql: postgres.Sql, id: string | undefined) {
    this.#sql = sql;
    this.#id = id;
    const hold = () => (this.#waitingBegin === undefined ? this.#onReady() : this.#onAlone());
    const release = { get: () => (this.#waitingBegin === undefined ? this.#onAnswer() : this.#isWanted()) };
    this.#hold = Object.defineProperty(hold, "release", release) as unknown as Hold;
  }

  /** No statement is taken any more. */
  get over(): boolean {
    return this.#over;
  }

  /** COMMIT was sent and its answer has not come. */
  get commitPending(): boolean {
    return this.#commit !== undefined && this.#commit.state !== null;
  }

  /**
   * Takes a connection of the pool and opens the transaction. When one `follows`, the first statement that is issued does not
   * wait for BEGIN to be answered. @throws {StoreError} when that fails, with nothing left open
   */
  async begin(text: string, { follows }: { follows: boolean }): Promise<void> {
    const begin = ownQuery(this.#sql, text);
    try {
      await offerConnection(this.#sql, (connection, alone) => {
        if (this.#over) return;
        this.#keep(connection);
        this.#waitingBegin = begin;
        this.#follows = follows;
        if (alone) this.#onAlone();
      });
      // Given up while it waited for a connection.
      if (this.#connection === undefined) throw this.#whyOver();
      await begin;
    } catch (error) {
      if (this.#over && !isServersAnswer(error)) throw this.#whyOver();
      // Of several statements one after BEGIN may have failed.
      await this.rollback();
      const failure = this.error(`The transaction could not be opened: ${(error as Error).message}`, {
        cause: error,
      });
      this.#break(failure);
      throw failure;
    }
  }

  /** Sends the statement when its turn comes, or rejects it. */
  issue(query: DriverQuery): void {
    if (this.#over) query.reject(this.#whyOver());
    else {
      this.#waiting.push(query);
      this.#next();
    }
  }

  /** A statement of the guard's own. */
  async run(text: string): Promise<void> {
    const query = ownQuery(this.#sql, text);
    this.issue(query);
    try {
      await query;
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** A statement failed with this error. */
  failed(error: unknown): void {
    if (typeof error === "object" && error !== null) this.#failures.add(error);
  }

  /**
   * What to tell the caller, when the transaction has ended, for an error of the work: that the connection was lost, if the
   * error is but what the driver made of that.
   */
  causeOf(thrown: unknown): unknown {
    if (typeof thrown !== "object" || thrown === null || isServersAnswer(thrown)) return thrown;
    return this.#failures.has(thrown) ? (this.#broken ?? thrown) : thrown;
  }

  /** Resolves when every statement is answered, or will never be. */
  async drained(): Promise<void> {
    if (this.#over || (this.#ready && this.#waiting.length === 0)) return;
    await new Promise<void>((resolve) => this.#whenDrained.push(resolve));
  }

  /** @throws the server's error, or {StoreError}: whatever it throws but `BQ_COMMIT_UNKNOWN` means rolled back */
  async commit(): Promise<void> {
    const query = ownQuery(this.#sql, "commit");
    this.#commit = query;
    this.#finishing = true;
    this.issue(query);
    try {
      const { command } = await query;
      if (command === "COMMIT") return;
    } catch (error) {
      if (query.state !== null && !isServersAnswer(error)) throw this.commitUnknown(error);
      this.failed(error);
      throw error;
    } finally {
      this.#commit = undefined;
    }
    throw this.error("The server rolled the transaction back at COMMIT: one of its statements had failed.");
  }

  /** Rolls back; a connection on which that fails is closed, which rolls back too. */
  async rollback(): Promise<void> {
    if (this.#over || this.#connection === undefined) return;
    this.#finishing = true;
    for (const query of this.#waiting.splice(0)) {
      query.reject(this.error("The transaction was rolled back before this statement was sent."));
    }
    await this.run("rollback").catch(() => {});
    await this.drained();
    if (!this.#over) this.drop(this.error("The transaction is still open after ROLLBACK."));
  }

  /** Ends the transaction by closing its connection. */
  drop(reason: StoreError): void {
    if (this.#over) return;
    this.#break(reason);
    const connection = this.#connection;
    // What is under way on it before BEGIN was sent is others'.
    if (connection === undefined || this.#waitingBegin !== undefined) return;
    // The statement would go on, and hold its locks, until it is done. A COMMIT is left to its fate.
    if (this.#current !== undefined && this.#current !== this.#commit) cancel(this.#current);
    // Not in the middle of the driver's own work, from which this may have been called.
    setImmediate(() => {
      if (connection.reserved === this.#hold) destroy(this.#sql, connection);
    });
  }

  error(message: string, details: { code?: StoreErrorCode; cause?: unknown } = {}): StoreError {
    return new StoreError(message, { operation: "transact", id: this.#id, ...details });
  }

  commitUnknown(cause: unknown): StoreError {
    return this.error(
      "COMMIT was sent and its answer was lost: the transaction is either committed or rolled back. The redelivery finds out.",
      { code: "BQ_COMMIT_UNKNOWN", cause },
    );
  }

  #keep(connection: DriverConnection): void {
    this.#connection = connection;
    connection.reserved = this.#hold;
    connection.onclose = this.#onClose;
    takeOffList(connection);
  }

  readonly #onClose = (cause: unknown): void => {
    this.#break(this.error("The connection was lost, and the transaction is rolled back.", { cause }));
    // Refused just before the connection died, it would be repeated on the next one, outside the transaction.
    if (this.#current !== undefined) this.#current.prepared = false;
    // The driver keeps what it was handed between an error of the socket and its closing, and would wait for the answer on
    // its next connection. This makes it forget.
    this.#connection?.terminate();
  };

  #next(): void {
    const connection = this.#connection;
    while ((this.#ready || this.#mayFollow) && connection?.reserved === this.#hold) {
      const query = this.#waiting.shift();
      if (query === undefined) {
        this.#tellDrained();
        return;
      }
      // The driver answers a cancelled query itself, and sends nothing.
      if (query.cancelled) continue;
      this.#ready = this.#mayFollow = false;
      this.#current = query;
      connection.execute(query);
    }
  }

  /** Nothing is under way on the connection any more. */
  #onAlone(): void {
    const begin = this.#waitingBegin;
    if (begin === undefined) return;
    this.#waitingBegin = undefined;
    this.#connection?.execute(begin);
    this.#mayFollow = this.#follows;
    this.#next();
  }

  /** Is the connection still to be held, until nothing is under way on it? */
  #isWanted(): boolean {
    if (this.#over) this.#letGo();
    return !this.#over;
  }

  /** The server has answered everything. `#onReady` follows at once if it is in a transaction, else the connection is let go. */
  #onAnswer(): false {
    this.#current = undefined;
    this.#reported = "idle";
    queueMicrotask(() => {
      if (this.#reported === "idle") this.#onIdle();
    });
    return false;
  }

  #onReady(): void {
    this.#reported = "in transaction";
    this.#begun = true;
    this.#mayFollow = false;
    this.#ready = true;
    this.#next();
  }

  #onIdle(): void {
    const connection = this.#letGo();
    // Answers were mixed up, or BEGIN failed. If it did not, the pool must not have a connection with an open transaction.
    if (!this.#begun && connection !== undefined) {
      takeOffList(connection);
      destroy(this.#sql, connection);
    }
    if (this.#finishing) this.#end();
    else this.#break(this.error("A statement ended the transaction: leave COMMIT and ROLLBACK to us."));
  }

  #letGo(): DriverConnection | undefined {
    const connection = this.#connection;
    // By now it may be another transaction's.
    if (connection?.onclose === this.#onClose) connection.onclose = null;
    return connection;
  }

  #break(reason: StoreError): void {
    if (!this.#over) this.#broken = reason;
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#waitingBegin?.reject(this.#whyOver());
    for (const query of this.#waiting.splice(0)) query.reject(this.#whyOver());
    this.#tellDrained();
  }

  /** Made where it is needed: most transactions end without anybody asking why. */
  #whyOver(): StoreError {
    return this.#broken ?? this.error("The transaction is over.");
  }

  #tellDrained(): void {
    for (const tell of this.#whenDrained.splice(0)) tell();
  }
}

/** Was this said by the server, which then went on, and not made up by the driver or said as a farewell? */
function isServersAnswer(error: unknown): boolean {
  return (error as { severity?: unknown } | null)?.severity === "ERROR";
}
