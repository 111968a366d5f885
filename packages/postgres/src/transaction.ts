import type { Awaitable, TransactResult } from "@bq/idempotency-core";
import { requireId } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import { AnswerLimit, answerLimitMs } from "./answer-limit.ts";
import { runGuarded } from "./guard/transaction.ts";
import { markFirst } from "./marks.ts";
import { retrying } from "./retry.ts";
import { failure, isWaitEnded } from "./sqlstate.ts";
import { beginBounded } from "./statements.ts";
import type { Table } from "./table.ts";

/** Says that the work was not to run. Thrown through the transaction, so that it is rolled back. */
class NotRun<R> {
  readonly result: TransactResult<R>;

  constructor(result: TransactResult<R>) {
    this.result = result;
  }
}

/**
 * Writes the mark, runs the work and commits both. A concurrent transaction with the same id waits at its own mark until this
 * one is over: committed, the mark is there and it skips; rolled back, the mark is its own and it runs.
 */
export async function transact<R>(
  sql: postgres.Sql,
  table: Table,
  id: string | undefined,
  work: (tx: postgres.TransactionSql) => Awaitable<R>,
): Promise<TransactResult<R>> {
  if (id !== undefined) requireId(id);
  const { lockTimeoutMs, retries } = table.settings;
  const begin = id === undefined ? undefined : beginBounded(lockTimeoutMs);
  let workThrew = false;

  const attempt = (): Promise<TransactResult<R>> => {
    workThrew = false;
    const limit = new AnswerLimit(id);
    const markThenWork = async (tx: postgres.TransactionSql): Promise<TransactResult<R>> => {
      if (id !== undefined) await markOrStop(table.within(tx), id);
      limit.stop();
      try {
        return { status: "ran", value: await allOf(await work(tx)) };
      } catch (error) {
        workThrew = true;
        throw error;
      } finally {
        limit.start(answerLimitMs);
      }
    };
    limit.start(lockTimeoutMs + answerLimitMs);
    return runGuarded(sql, markThenWork, { begin, id, signal: limit.signal }).finally(() => limit.stop());
  };

  try {
    return await retrying(retries, attempt);
  } catch (error) {
    if (error instanceof NotRun) return error.result;
    // What the work threw is the caller's own, and passes untouched.
    throw workThrew ? error : failure(error, "transact", table.settings.table.quoted, id);
  }
}

/** Writes the mark of this transaction, or throws `NotRun`. */
async function markOrStop(table: Table, id: string): Promise<void> {
  const found = await markFirst(table, { operation: "transact", id, statement: "markBounded" }).catch(
    (error: unknown) => {
      // The wait for a duplicate was too long. It may take as long again.
      if (isWaitEnded(error)) {
        throw new NotRun({ status: "in-flight", retryAfterMs: table.settings.lockTimeoutMs });
      }
      throw error;
    },
  );
  if (found.status !== "marked") throw new NotRun(found);
}

/** As with `sql.begin`, the work may answer with an array of queries, which are sent when they are waited for. */
async function allOf<R>(answer: R): Promise<R> {
  return Array.isArray(answer) ? ((await Promise.all(answer)) as R) : answer;
}
