import type { Awaitable, TransactResult } from "@bq/idempotency-core";
import type postgres from "postgres";
import type { Table } from "./table.ts";

export async function transact<R>(
  _sql: postgres.Sql,
  _table: Table,
  _id: string | undefined,
  _work: (tx: postgres.TransactionSql) => Awaitable<R>,
): Promise<TransactResult<R>> {
  throw new Error("todo");
}
