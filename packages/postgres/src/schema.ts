import type postgres from "postgres";
import type { Settings } from "./options.ts";
import type { TableName } from "./table-name.ts";

/** The SQL that makes the table, complete: for a migration tool of your own. */
export function ddl(table: TableName): string {
  return [createTable(table), createIndex(table)].map((statement) => `${statement};\n`).join("\n");
}

// "C" compares bytes. The order of other collations changes with the operating system, and an index that was built under the
// old order no longer finds what it holds.
function createTable({ quoted }: TableName): string {
  return `CREATE TABLE ${quoted} (
  message_id TEXT COLLATE "C" PRIMARY KEY,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  expires_at TIMESTAMPTZ NULL,
  claim_token TEXT NULL,
  claimed_until TIMESTAMPTZ NULL
)`;
}

// For the purge. Marks that never expire are not in it. Never index claimed_until: a renewal changes nothing else, and so
// it touches no index.
function createIndex({ quoted }: TableName): string {
  return `CREATE INDEX ON ${quoted} (expires_at)
WHERE expires_at IS NOT NULL`;
}

export async function migrate(sql: postgres.Sql, settings: Settings): Promise<void> {
  await sql.unsafe(ddl(settings.table)).simple();
}
