import { StoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import type { Settings } from "./options.ts";

type Affinity = "TEXT" | "INTEGER";

interface Column {
  readonly name: string;
  readonly type: Affinity;
  readonly rules: string;
}

const columns: readonly Column[] = [
  { name: "message_id", type: "TEXT", rules: "COLLATE BINARY NOT NULL PRIMARY KEY" },
  { name: "created_at", type: "INTEGER", rules: "NOT NULL" },
  { name: "expires_at", type: "INTEGER", rules: "" },
  { name: "claim_token", type: "TEXT", rules: "" },
  { name: "claimed_until", type: "INTEGER", rules: "" },
];

/** The columns that a table may lack: `migrate` adds them. */
const addable: readonly string[] = ["claim_token", "claimed_until"];

/** The SQL that creates the table, for those who run their migrations by hand. Times are milliseconds since the epoch. */
export function createTable({ table }: Settings): string {
  const lines = columns.map(({ name, type, rules }) => `  ${name} ${type} ${rules}`.trimEnd());
  return `CREATE TABLE IF NOT EXISTS ${table} (\n${lines.join(",\n")}\n) WITHOUT ROWID;`;
}

/**
 * The statements that are still to be run for the table to be right; none when it is.
 *
 * @throws {StoreError} `BQ_STORE_SCHEMA` for a table of another shape
 */
export function missing(database: Sqlite.Database, settings: Settings): string[] {
  const found = foundColumns(database, settings);
  if (found.size === 0) return [createTable(settings)];
  const differences = columns.flatMap((column) => difference(column, found.get(column.name)));
  differences.push(...keyDifference(database, settings), ...strangers(found));
  if (differences.length > 0) throw otherShape(settings, differences);
  return columns
    .filter(({ name }) => !found.has(name))
    .map(({ name, type }) => `ALTER TABLE ${settings.table} ADD COLUMN ${name} ${type};`);
}

/** @throws {StoreError} `BQ_STORE_SCHEMA` when the table is not there, or not as this version needs it */
export function requireTable(database: Sqlite.Database, settings: Settings): void {
  const statements = missing(database, settings);
  if (statements.length === 0) return;
  throw new StoreError(
    `The table ${settings.tableName} is not ready: call migrate() once, or run: ${statements.join(" ")}`,
    { operation: "open", code: "BQ_STORE_SCHEMA" },
  );
}

interface FoundColumn {
  readonly name: string;
  readonly type: string;
  readonly mustBeGiven: boolean;
  /** Its place in the primary key, from 1; 0 when it is no part of it. */
  readonly keyPlace: number;
}

function foundColumns(database: Sqlite.Database, { tableName }: Settings): Map<string, FoundColumn> {
  const rows = rowsOf(
    database,
    `SELECT name, type, "notnull" AND dflt_value IS NULL, pk
     FROM pragma_table_xinfo(?, 'main')`,
    tableName,
  ) as [string, string, number, number][];
  return new Map(
    rows.map(([name, type, mustBeGiven, keyPlace]) => [
      name,
      { name, type, mustBeGiven: mustBeGiven === 1, keyPlace },
    ]),
  );
}

function difference(wanted: Column, found: FoundColumn | undefined): string[] {
  if (found === undefined) return addable.includes(wanted.name) ? [] : [`it has no column ${wanted.name}`];
  const differences: string[] = [];
  if (affinity(found.type) !== wanted.type) {
    differences.push(`${wanted.name} is ${found.type || "of no type"} instead of ${wanted.type}`);
  }
  const optional = wanted.rules === "";
  if (optional && found.mustBeGiven) differences.push(`${wanted.name} must not be NOT NULL`);
  const keyPlace = wanted.name === "message_id" ? 1 : 0;
  if (found.keyPlace !== keyPlace) {
    differences.push(`${wanted.name} is ${found.keyPlace > 0 ? "" : "not "}part of the primary key`);
  }
  return differences;
}

/** A column of somebody else's is in the way when a row cannot be written without it. */
function strangers(found: Map<string, FoundColumn>): string[] {
  const known = new Set(columns.map(({ name }) => name));
  return [...found.values()]
    .filter(({ name, mustBeGiven, keyPlace }) => !known.has(name) && (mustBeGiven || keyPlace > 0))
    .map(({ name }) => `it has a further column ${name} that must be given`);
}

/** A collation such as NOCASE would make one id of two. */
function keyDifference(database: Sqlite.Database, { tableName }: Settings): string[] {
  const collations = rowsOf(
    database,
    `SELECT key_column.coll
     FROM pragma_index_list(?, 'main') AS key_index, pragma_index_xinfo(key_index.name, 'main') AS key_column
     WHERE key_index.origin = 'pk'
     AND key_column.name = 'message_id'`,
    tableName,
  ) as [string][];
  return collations
    .filter(([collation]) => collation.toUpperCase() !== "BINARY")
    .map(([collation]) => `message_id compares by ${collation} instead of BINARY`);
}

/** By SQLite's rules for the two types that matter here. */
function affinity(type: string): string {
  const upper = type.toUpperCase();
  if (upper.includes("INT")) return "INTEGER";
  return /CHAR|CLOB|TEXT/.test(upper) ? "TEXT" : upper;
}

function otherShape({ tableName }: Settings, differences: readonly string[]): StoreError {
  return new StoreError(
    `The table ${tableName} has another shape than this version uses: ${differences.join("; ")}. Give the store a table of its own with the option table, or mend this one.`,
    { operation: "migrate", code: "BQ_STORE_SCHEMA" },
  );
}

function rowsOf(database: Sqlite.Database, sql: string, ...parameters: unknown[]): unknown[] {
  return database
    .prepare(sql)
    .raw(true)
    .safeIntegers(false)
    .all(...parameters);
}
