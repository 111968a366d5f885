import type postgres from "postgres";
import { GuardedScope } from "./scope.ts";
import { GuardedSession } from "./session.ts";
import type { Work } from "./sql.ts";

export interface GuardedOptions {
  /**
   * What opens the transaction, sent as one simple query: settings may follow BEGIN in the same round trip, such as
   * `begin; set local lock_timeout = 3000`. Default `begin`.
   */
  begin?: string | undefined;
  /**
   * What comes before the work, in a scope of its own. Its first statement may go out with BEGIN, in one packet, and is then not
   * held back when that fails: it must do nothing unless it finds a setting that `begin` made for the transaction.
   */
  opening?: Work<void> | undefined;
  /** When it aborts, the transaction is given up: its connection is closed, and the caller told at once. */
  signal?: AbortSignal | undefined;
  /** The id that the transaction is for, for the errors. */
  id?: string | undefined;
}

/**
 * `sql.begin(work)`, safe against a connection that dies: no statement of `tx` ever runs outside the transaction, nothing is
 * thrown where nobody can catch it, and the promise resolves only when the server has said that it committed.
 *
 * - What the work throws passes through, after the rollback. The work is waited for even when the connection is lost.
 * - A statement that failed rolls the transaction back, also when the work caught its error, unless in a savepoint.
 * - `tx` closes when the work settles. What was issued before is sent before COMMIT, or rolled back.
 *
 * @throws what the work threw; the server's error when it refused the COMMIT; the signal's reason; else {StoreError}, with code
 *   `BQ_COMMIT_UNKNOWN` when the answer to COMMIT was lost. After any other error the transaction is rolled back.
 */
export function runGuarded<R>(sql: postgres.Sql, work: Work<R>, options: GuardedOptions = {}): Promise<R> {
  const { signal, id } = options;
  const session = new GuardedSession(sql, id);
  if (signal === undefined) return run(sql, session, work, options);
  if (signal.aborted) return Promise.reject(signal.reason);

  return new Promise((resolve, reject) => {
    const giveUp = () => {
      const { reason } = signal;
      reject(session.commitPending ? session.commitUnknown(reason) : reason);
      session.drop(session.error("The transaction was given up; it is rolled back.", { cause: reason }));
    };
    signal.addEventListener("abort", giveUp, { once: true });
    run(sql, session, work, options)
      .finally(() => signal.removeEventListener("abort", giveUp))
      .then(resolve, reject);
  });
}

async function run<R>(
  sql: postgres.Sql,
  session: GuardedSession,
  work: Work<R>,
  { begin = "begin", opening }: GuardedOptions,
): Promise<R> {
  const scope = () => new GuardedScope(sql, session, "transaction");
  const opened = opening === undefined ? undefined : scope().run(opening);
  // It is waited for below, unless BEGIN fails.
  opened?.catch(() => {});
  await session.begin(begin, { follows: opened !== undefined });
  const main = scope();
  try {
    await opened;
    const value = await main.run(work);
    await session.drained();
    main.throwIfFailed();
    await session.commit();
    return value;
  } catch (error) {
    await session.rollback();
    throw session.causeOf(error);
  }
}
