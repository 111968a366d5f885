import type { Finding } from "@bq/idempotency-core";
import type postgres from "postgres";
import type { TableName } from "./table-name.ts";

export async function check(_sql: postgres.Sql, _table: TableName): Promise<Finding[]> {
  return [];
}
