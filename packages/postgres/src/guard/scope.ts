import type { StoreError } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import type { DriverQuery } from "./driver.ts";
import type { GuardedSession } from "./session.ts";
import { makeTx, type Work } from "./sql.ts";
import { watchStatement } from "./statement.ts";

/** What one callback does in the transaction: the work itself, or that of a savepoint. Its `tx` closes when it settles. */
export class GuardedScope {
  readonly #sql: postgres.Sql;
  readonly #session: GuardedSession;
  readonly #name: string;
  readonly #stalled: (() => boolean)[] = [];
  #closed = false;
  #firstFailure: { readonly error: unknown } | undefined;

  constructor(sql: postgres.Sql, session: GuardedSession, name: string) {
    this.#sql = sql;
    this.#session = session;
    this.#name = name;
  }

  /**
   * Runs the callback, then closes its `tx`. Throws what the callback threw. It is as with `sql.begin` that an array of queries
   * is waited for, and that "current transaction is aborted" gives way to the error that aborted it.
   */
  async run<R>(work: Work<R>): Promise<R> {
    try {
      const answer = work(makeTx(this.#sql, this));
      return Array.isArray(answer) ? ((await Promise.all(answer)) as R) : await answer;
    } catch (error) {
      throw this.#causeOf(error);
    } finally {
      this.#close();
    }
  }

  /** Throws the error of a statement that failed, if one did: the callback caught it, and the server kept nothing. */
  throwIfFailed(): void {
    if (this.#firstFailure !== undefined) throw this.#firstFailure.error;
  }

  /** Takes a statement of this scope's `tx`, before it is complete. A closed scope rejects it and answers false. */
  admit(query: DriverQuery): boolean {
    if (this.#closed) {
      // Also when nobody waits for it.
      Promise.prototype.catch.call(query, () => {});
      query.reject(this.#closedError());
      return false;
    }
    const session = this.#session;
    const stalled = watchStatement(query, {
      isOver: () => session.over,
      onFailure: (error) => this.#onFailure(error),
    });
    if (stalled !== undefined) this.#stalled.push(stalled);
    return true;
  }

  /** Sends a statement that was admitted, in its turn. */
  send(query: DriverQuery): void {
    if (this.#closed) query.reject(this.#closedError());
    else this.#session.issue(query);
  }

  /** Runs the work after a savepoint; if it fails, what it did is undone. */
  async savepoint<R>(label: string | undefined, work: Work<R>): Promise<R> {
    if (this.#closed) throw this.#closedError();
    const session = this.#session;
    const name = `s${session.savepoints++}${label ? `_${label}` : ""}`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await session.run(`savepoint ${quoted}`);
    const scope = new GuardedScope(this.#sql, session, `savepoint ${quoted}`);
    try {
      const value = await scope.run(work);
      scope.throwIfFailed();
      return value;
    } catch (error) {
      // If it cannot be undone, nothing of the transaction may be kept.
      await session.run(`rollback to savepoint ${quoted}`).catch((failure) => this.#onFailure(failure));
      throw error;
    }
  }

  #close(): void {
    const session = this.#session;
    this.#closed = true;
    if (!session.over && this.#stalled.some((isStalled) => isStalled())) {
      session.drop(
        session.error(`The ${this.#name} was left with a cursor or a COPY still open; it is rolled back.`),
      );
    }
  }

  /** Made where it is needed: its stack then shows who used the `tx`, and a transaction without such a mistake is spared it. */
  #closedError(): StoreError {
    return this.#session.error(`The ${this.#name} is over: its tx cannot be used any more.`);
  }

  #onFailure(error: unknown): void {
    this.#firstFailure ??= { error };
    this.#session.failed(error);
  }

  /** "Current transaction is aborted" says nothing; the error that aborted it does. */
  #causeOf(thrown: unknown): unknown {
    const isAborted = (thrown as { code?: unknown } | null | undefined)?.code === "25P02";
    return isAborted && this.#firstFailure !== undefined ? this.#firstFailure.error : thrown;
  }
}
