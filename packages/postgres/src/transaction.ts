import type { Awaitable, TransactResult } from "@bq/idempotency-core";
import { requireId, storageKey } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import { AnswerLimit, answerLimitMs } from "./answer-limit.ts";
import type { Parameter } from "./ask.ts";
import { runGuarded } from "./guard/transaction.ts";
import { retrying } from "./retry.ts";
import { failure, isWaitEnded } from "./sqlstate.ts";
import type { Table } from "./table.ts";
import { takeId } from "./taking.ts";

/** Says that the work was not to run. Thrown through the transaction, so that it is rolled back. */
class NotRun<R> {
  readonly result: TransactResult<R>;

  constructor(result: TransactResult<R>) {
    this.result = result;
  }
}

/** Transactions that write the mark of an id, do the work for it, and keep both or neither. */
export class Transactions {
  readonly #sql: postgres.Sql;
  readonly #table: Table;
  /** Redeliveries come in rows, as when a queue is replayed: after one, the next id is looked for before a transaction is opened. */
  #afterDuplicate = false;

  constructor(sql: postgres.Sql, table: Table) {
    this.#sql = sql;
    this.#table = table;
  }

  /**
   * Writes the mark, runs the work and commits both. A concurrent transaction with the same id waits at its own mark until this
   * one is over: committed, the mark is there and it skips; rolled back, the mark is its own and it runs.
   */
  async run<R>(
    id: string | undefined,
    work: (tx: postgres.TransactionSql) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    if (id === undefined) return this.#transact(id, work);
    requireId(id);
    if (this.#afterDuplicate && (await this.#isProcessed(id))) return { status: "processed" };
    const result = await this.#transact(id, work);
    this.#afterDuplicate = result.status === "processed";
    return result;
  }

  /** Asks outside any transaction, and shares the question with others. */
  async #isProcessed(id: string): Promise<boolean> {
    const limit = new AnswerLimit(id);
    limit.start(answerLimitMs);
    const parameters = [storageKey(id)];
    const answer = this.#table.ask({ operation: "transact", id, statement: "seen", parameters });
    return (await limit.bound(answer).finally(() => limit.stop())) === "1";
  }

  async #transact<R>(
    id: string | undefined,
    work: (tx: postgres.TransactionSql) => Awaitable<R>,
  ): Promise<TransactResult<R>> {
    const table = this.#table;
    const { lockTimeoutMs, retries } = table.settings;
    let workThrew = false;

    const attempt = (): Promise<TransactResult<R>> => {
      workThrew = false;
      const limit = new AnswerLimit(id);
      const opening =
        id === undefined ? undefined : (tx: postgres.TransactionSql) => markOrStop(table.within(tx), id);
      const run = async (tx: postgres.TransactionSql): Promise<TransactResult<R>> => {
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
      return runGuarded(this.#sql, run, { opening, id, signal: limit.signal }).finally(() => limit.stop());
    };

    try {
      return await retrying(retries, attempt);
    } catch (error) {
      if (error instanceof NotRun) return error.result;
      // What the work threw is the caller's own, and passes untouched.
      throw workThrew ? error : failure(error, "transact", table.settings.table.quoted, id);
    }
  }
}

/** Writes the mark of this transaction, or throws `NotRun`. */
async function markOrStop(table: Table, id: string): Promise<void> {
  const { lockTimeoutMs } = table.settings;
  const key = storageKey(id);
  const ask = (statement: "markAtBegin" | "standing", parameters: Parameter[]) =>
    table.ask({ operation: "transact", id, statement, parameters });
  const found = await takeId(
    "transact",
    id,
    async () => (await ask("markAtBegin", [key, table.ttl, `${lockTimeoutMs}ms`])) ?? ask("standing", [key]),
  ).catch((error: unknown) => {
    // The wait for a duplicate was too long. It may take as long again.
    if (isWaitEnded(error)) throw new NotRun({ status: "in-flight", retryAfterMs: lockTimeoutMs });
    throw error;
  });
  if (found.status !== "taken") throw new NotRun(found);
}

/** As with `sql.begin`, the work may answer with an array of queries, which are sent when they are waited for. */
async function allOf<R>(answer: R): Promise<R> {
  return Array.isArray(answer) ? ((await Promise.all(answer)) as R) : answer;
}
