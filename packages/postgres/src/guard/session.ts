import { StoreError, type StoreErrorCode } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import { HeldConnection } from "./connection.ts";
import { cancel, type DriverQuery, ownQuery } from "./driver.ts";

/**
 * The statements of one transaction, on the connection that is held for it.
 *
 * A statement is sent only while the connection is held, and only after the server answered the one before it and reported the
 * transaction open: so it goes to that transaction, or nowhere. One statement alone may go out right behind BEGIN, one that sees
 * to it by itself that it is in the transaction.
 */
export class GuardedSession {
  /** How many savepoints were set: the number in the next one's name. */
  savepoints = 0;
  readonly #sql: postgres.Sql;
  readonly #id: string | undefined;
  readonly #held: HeldConnection;
  readonly #waiting: DriverQuery[] = [];
  readonly #failures: WeakSet<object> = new WeakSet();
  /** The statement under way. */
  #current: DriverQuery | undefined;
  #commit: DriverQuery | undefined;
  /** The server awaits a statement, in the transaction. */
  #ready = false;
  /** BEGIN was sent, and a statement may follow in the same packet. */
  #mayFollow = false;
  #finishing = false;
  #over = false;
  /** What ended the transaction, when it was neither COMMIT nor ROLLBACK. */
  #broken: StoreError | undefined;
  #whenDrained: (() => void)[] = [];

  constructor(sql: postgres.Sql, id: string | undefined) {
    this.#sql = sql;
    this.#id = id;
    this.#held = new HeldConnection(sql, {
      onAnswer: () => {
        this.#current = undefined;
      },
      onOpen: () => this.#onOpen(),
      onIdle: () => this.#onIdle(),
      onClose: (cause) => this.#onClose(cause),
    });
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
      await this.#held.take(begin, () => {
        this.#mayFollow = follows;
        this.#next();
      });
      // Given up while it waited for a connection.
      if (!this.#held.taken) throw this.#whyOver();
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
    if (this.#over || !this.#held.taken) return;
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
    // The statement would go on, and hold its locks, until it is done. A COMMIT is left to its fate.
    if (this.#current !== undefined && this.#current !== this.#commit) cancel(this.#current);
    this.#held.close();
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

  #onClose(cause: unknown): void {
    this.#break(this.error("The connection was lost, and the transaction is rolled back.", { cause }));
    // Refused just before the connection died, it would be repeated on the next one, outside the transaction.
    if (this.#current !== undefined) this.#current.prepared = false;
  }

  #next(): void {
    while ((this.#ready || this.#mayFollow) && this.#held.ours) {
      const query = this.#waiting.shift();
      if (query === undefined) {
        this.#tellDrained();
        return;
      }
      // The driver answers a cancelled query itself, and sends nothing.
      if (query.cancelled) continue;
      this.#ready = this.#mayFollow = false;
      this.#current = query;
      this.#held.send(query);
    }
  }

  #onOpen(): void {
    this.#mayFollow = false;
    this.#ready = true;
    this.#next();
  }

  #onIdle(): void {
    if (this.#finishing) this.#end();
    else this.#break(this.error("A statement ended the transaction: leave COMMIT and ROLLBACK to us."));
  }

  #break(reason: StoreError): void {
    if (!this.#over) this.#broken = reason;
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#held.leave(() => this.#whyOver());
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
