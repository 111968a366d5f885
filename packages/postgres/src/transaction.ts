import type { Awaitable, TransactResult } from "@bq/idempotency-core";
import { requireId, storageKey } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import { AnswerLimit, answerLimitMs } from "./answer-limit.ts";
import { runGuarded } from "./guard/transaction.ts";
import { retrying } from "./retry.ts";
import { failure, isWaitEnded } from "./sqlstate.ts";
import type { Table } from "./table.ts";
import { beginBounded } from "./take-statements.ts";
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
    const limitMs = this.#table.settings.lockTimeoutMs + answerLimitMs;
    if (id === undefined) return this.#transact(id, work, limitMs);
    requireId(id);
    const startedAt = performance.now();
    if (this.#afterDuplicate && (await this.#isProcessed(id, limitMs))) return { status: "processed" };
    const leftMs = Math.max(1, Math.ceil(limitMs - (performance.now() - startedAt)));
    const result = await this.#transact(id, work, leftMs);
    this.#afterDuplicate = result.status === "processed";
    return result;
  }

  /** Asks outside any transaction, and shares the question with others. */
  async #isProcessed(id: string, limitMs: number): Promise<boolean> {
    const limit = new AnswerLimit(id);
    limit.start(limitMs);
    const parameters = [storageKey(id)];
    const answer = this.#table.ask({ operation: "transact", id, statement: "seen", parameters });
    return (await limit.bound(answer).finally(() => limit.stop())) === "1";
  }

  /** `limitMs` is how long the server may take until the work begins. */
  async #transact<R>(
    id: string | undefined,
    work: (tx: postgres.TransactionSql) => Awaitable<R>,
    limitMs: number,
  ): Promise<TransactResult<R>> {
    const table = this.#table;
    const { lockTimeoutMs, retries } = table.settings;
    // Without a mark there is nothing to wait for.
    const marking =
      id === undefined
        ? {}
        : {
            begin: beginBounded(lockTimeoutMs),
            opening: (tx: postgres.TransactionSql) => markOrStop(table.within(tx), id),
          };
    let workThrew = false;

    const attempt = (): Promise<TransactResult<R>> => {
      workThrew = false;
      const limit = new AnswerLimit(id);
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
      limit.start(limitMs);
      return runGuarded(this.#sql, run, { ...marking, id, signal: limit.signal }).finally(() => limit.stop());
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
  const parameters = [storageKey(id), table.ttl];
  const found = await takeId("transact", id, () =>
    table.ask({ operation: "transact", id, statement: "markAtBegin", parameters }),
  ).catch((error: unknown) => {
    // The wait for a duplicate was too long. It may take as long again.
    if (isWaitEnded(error)) {
      throw new NotRun({ status: "in-flight", retryAfterMs: table.settings.lockTimeoutMs });
    }
    throw error;
  });
  if (found.status !== "taken") throw new NotRun(found);
}

/** As with `sql.begin`, the work may answer with an array of queries, which are sent when they are waited for. */
async function allOf<R>(answer: R): Promise<R> {
  return Array.isArray(answer) ? ((await Promise.all(answer)) as R) : answer;
}
