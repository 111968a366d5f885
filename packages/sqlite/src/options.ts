import { maxTimerMs, OptionReader, show } from "@bq/idempotency-core/backend";

/** Where marks are kept, and for how long. */
export interface SqliteStoreOptions {
  /**
   * The table of the marks: letters, digits and underscores, at most 63, none of SQLite's own `sqlite_…` names. Default
   * `babelqueue_idempotency`. Two consumers of the same messages need two tables, or the second one skips them all.
   */
  table?: string | undefined;
  /** How long a mark lives, in milliseconds. Default: for ever. */
  ttlMs?: number | undefined;
  /**
   * How long an operation waits for a database that another connection has locked, in milliseconds, before it fails with a
   * `StoreError`. Default 5 000. The wait is made of pauses, so the event loop runs on meanwhile.
   */
  busyTimeoutMs?: number | undefined;
}

/** The options, read once: what the store works with. */
export interface Settings {
  /** Quoted, and with its database: `"main"."babelqueue_idempotency"`. */
  readonly table: string;
  /** As the user wrote it, for messages. */
  readonly tableName: string;
  readonly ttlMs: number | undefined;
  readonly busyTimeoutMs: number;
}

const defaultTable = "babelqueue_idempotency";
const tablePattern = /^(?!sqlite_)[a-z_][a-z0-9_]{0,62}$/i;

/** @throws {TypeError | RangeError} for an option that is unknown or out of range */
export function readOptions(options: SqliteStoreOptions | undefined): Settings {
  const read = new OptionReader("SqliteStore", options, ["table", "ttlMs", "busyTimeoutMs"]);
  const tableName = read.text("table") ?? defaultTable;
  if (!tablePattern.test(tableName)) {
    throw new TypeError(
      `SqliteStore: table must be letters, digits and underscores, start with no digit and not with sqlite_, and have at most 63 characters, got ${show(tableName)}.`,
    );
  }
  return Object.freeze({
    // Without the database's name, a temporary table of the same name would be taken instead.
    table: `"main"."${tableName}"`,
    tableName,
    ttlMs: read.ttlMs(),
    busyTimeoutMs: read.integer("busyTimeoutMs", { min: 0, max: maxTimerMs, unit: "milliseconds" }) ?? 5_000,
  });
}
