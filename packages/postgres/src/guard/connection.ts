import type postgres from "postgres";
import { type DriverConnection, type DriverQuery, destroy, type Hold, takeOffList } from "./driver.ts";
import { offerConnection } from "./offer.ts";

/** What a held connection tells its holder, in the driver's own turn. */
export interface Holder {
  /** The server has answered everything that was sent. `onOpen` or `onIdle` follows. */
  onAnswer(): void;
  /** The server reported the transaction open, and awaits a statement. */
  onOpen(): void;
  /** The server reported no transaction: the connection is the pool's again. */
  onIdle(): void;
  /** The socket closed, and the server rolls back. */
  onClose(cause: unknown): void;
}

/**
 * A connection of the pool that is held for one transaction, from before BEGIN until the server reports that it is in none.
 *
 * It rests on two things that the driver does before any code of the user's can run: it sets the connection's `reserved` to null
 * when the socket closes, and when the server reports that it is in no transaction. As long as `reserved` is ours, what is sent
 * goes to the session that BEGIN went to; a session whose death nobody has noticed yet loses it as well.
 */
export class HeldConnection {
  readonly #sql: postgres.Sql;
  readonly #holder: Holder;
  readonly #hold: Hold;
  #connection: DriverConnection | undefined;
  /**
   * BEGIN, while statements of others are under way on the connection: the driver repeats some that failed, which would then be
   * part of our transaction, and it may take the answers to some for those to others.
   */
  #waitingBegin: DriverQuery | undefined;
  #afterBegin = () => {};
  #unwanted = false;
  /** The server reported the transaction open. */
  #begun = false;
  #reported: "in transaction" | "idle" = "idle";

  constructor(sql: postgres.Sql, holder: Holder) {
    this.#sql = sql;
    this.#holder = holder;
    const hold = () => (this.#waitingBegin === undefined ? this.#onOpen() : this.#onAlone());
    const release = { get: () => (this.#waitingBegin === undefined ? this.#onAnswer() : this.#isWanted()) };
    this.#hold = Object.defineProperty(hold, "release", release) as unknown as Hold;
  }

  /** A connection was taken. */
  get taken(): boolean {
    return this.#connection !== undefined;
  }

  /** BEGIN was sent on the connection, and what is sent now goes the same way. */
  get ours(): boolean {
    return this.#waitingBegin === undefined && this.#connection?.reserved === this.#hold;
  }

  /**
   * Takes a connection of the pool, unless nobody wants it any more, and sends BEGIN when nothing else is under way there. Resolves
   * when a connection is taken, which may be before that. `afterBegin` is called at once when it was sent.
   */
  take(begin: DriverQuery, afterBegin: () => void): Promise<void> {
    return offerConnection(this.#sql, (connection, alone) => {
      if (this.#unwanted) return;
      this.#connection = connection;
      connection.reserved = this.#hold;
      connection.onclose = this.#onClose;
      takeOffList(connection);
      this.#waitingBegin = begin;
      this.#afterBegin = afterBegin;
      if (alone) this.#onAlone();
    });
  }

  /** Sends a statement. To be called only while the connection is `ours`. */
  send(query: DriverQuery): void {
    this.#connection?.execute(query);
  }

  /** The transaction is over. A BEGIN that was not sent is rejected, and its connection goes back to the pool. */
  leave(why: () => Error): void {
    this.#unwanted = true;
    this.#waitingBegin?.reject(why());
  }

  /** Closes the connection, unless all that is under way there is others'. */
  close(): void {
    // Not in the middle of the driver's own work, from which this may have been called.
    setImmediate(() => {
      if (this.ours && this.#connection !== undefined) destroy(this.#sql, this.#connection);
    });
  }

  readonly #onClose = (cause: unknown): void => {
    this.#holder.onClose(cause);
    // The driver keeps what it was handed between an error of the socket and its closing, and would wait for the answer on
    // its next connection. This makes it forget.
    this.#connection?.terminate();
  };

  /** Nothing is under way on the connection any more. */
  #onAlone(): void {
    const begin = this.#waitingBegin;
    if (begin === undefined) return;
    this.#waitingBegin = undefined;
    this.#connection?.execute(begin);
    this.#afterBegin();
  }

  /** Is the connection still to be held, until nothing is under way on it? */
  #isWanted(): boolean {
    if (this.#unwanted) this.#letGo();
    return !this.#unwanted;
  }

  /** The server has answered everything. `#onOpen` follows at once if it is in a transaction, else the connection is let go. */
  #onAnswer(): false {
    this.#holder.onAnswer();
    this.#reported = "idle";
    queueMicrotask(() => {
      if (this.#reported === "idle") this.#onIdle();
    });
    return false;
  }

  #onOpen(): void {
    this.#reported = "in transaction";
    this.#begun = true;
    this.#holder.onOpen();
  }

  #onIdle(): void {
    const connection = this.#letGo();
    // Answers were mixed up, or BEGIN failed. If it did not, the pool must not have a connection with an open transaction.
    if (!this.#begun && connection !== undefined) {
      takeOffList(connection);
      destroy(this.#sql, connection);
    }
    this.#holder.onIdle();
  }

  #letGo(): DriverConnection | undefined {
    const connection = this.#connection;
    // By now it may be another transaction's.
    if (connection?.onclose === this.#onClose) connection.onclose = null;
    return connection;
  }
}
