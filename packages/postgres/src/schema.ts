import { StoreError, toStoreError } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import { ask, type Client } from "./ask.ts";
import type { Settings } from "./options.ts";
import { addedColumns, missingColumns, readShape, requireShape, type Shape } from "./shape.ts";
import { isWaitEnded, sqlState, sqlStateOf } from "./sqlstate.ts";
import type { TableName } from "./table-name.ts";

/** How long one migration waits for others that are under way, in milliseconds. */
const turnLimitMs = 60_000;

/** The key of the advisory lock that migrations take, whatever their table: "bqidemp1" in ASCII. */
const lockKey = "7093566768004558897";

/** The SQL that makes the table, complete: for a migration tool of your own. */
export function ddl(table: TableName): string {
  return `${createTable(table)};\n`;
}

// "C" compares bytes. The order of other collations changes with the operating system, and an index that was built under the
// old order no longer finds what it holds. No further index: a renewal and a commit change no indexed column.
function createTable({ quoted }: TableName): string {
  return `CREATE TABLE ${quoted} (
  message_id pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
  created_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
  expires_at pg_catalog.timestamptz NULL,
  claim_token pg_catalog.text NULL,
  claimed_until pg_catalog.timestamptz NULL
)`;
}

/**
 * Makes the table, or adds what it lacks. The catalogue is read first, without a lock: where nothing is missing nothing is
 * changed, no transaction is waited for, and a role without the right to change tables succeeds.
 */
export async function migrate(sql: postgres.Sql, { table, lockTimeoutMs }: Settings): Promise<void> {
  try {
    if (plan(await readShape(sql, table), table).length === 0) return;
    // The catalogue is read again under the lock, by a statement that must see what the one before us committed.
    await sql.begin("isolation level read committed", async (tx) => {
      await setLockTimeout(tx, turnLimitMs);
      // Held by the transaction, not the session, which PgBouncer may lend to another client.
      await tx.unsafe(`SELECT pg_catalog.pg_advisory_xact_lock(${lockKey})`).raw();
      await setLockTimeout(tx, lockTimeoutMs);
      for (const statement of plan(await readShape(tx, table), table)) await tx.unsafe(statement);
    });
  } catch (error) {
    if (!isWaitEnded(error)) throw migrationFailure(error, table);
    throw new StoreError(
      `migrate() gave up waiting for the table ${table.quoted}, which a transaction or another migration holds. Nothing was changed: run it again, or raise lockTimeoutMs.`,
      { operation: "migrate", cause: error },
    );
  }
}

/** The statements that are missing to the table, in their order. */
function plan(shape: Shape | undefined, table: TableName): string[] {
  if (shape === undefined) return [createTable(table)];
  requireShape(shape, table);
  const columns = missingColumns(shape).map((name) => `ADD COLUMN ${name} ${addedColumns[name]}`);
  return columns.length > 0 ? [`ALTER TABLE ${table.quoted}\n${columns.join(",\n")}`] : [];
}

const setting = `
    SELECT
      $1::pg_catalog.varchar::pg_catalog.text
      || pg_catalog.set_config('lock_timeout', $2::pg_catalog.varchar::pg_catalog.text, TRUE)`;

async function setLockTimeout(tx: Client, ms: number): Promise<void> {
  await ask(tx, setting, [String(ms)]);
}

function migrationFailure(error: unknown, { quoted, schema }: TableName): StoreError {
  const state = sqlStateOf(error);
  const advice =
    state === sqlState.insufficientPrivilege
      ? "Let a role that owns the schema run migrate(), or the SQL of ddl(), and grant SELECT, INSERT, UPDATE and DELETE on the table."
      : state === sqlState.invalidSchemaName
        ? `Create the schema${schema === undefined ? " and put it on the search_path" : ` ${schema}`} first.`
        : undefined;
  if (advice === undefined) return toStoreError(error, "migrate");
  return new StoreError(
    `migrate() could not make the table ${quoted}: ${(error as Error).message}. ${advice}`,
    {
      operation: "migrate",
      code: "BQ_STORE_SCHEMA",
      cause: error,
    },
  );
}
