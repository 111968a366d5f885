import { maxTimerMs, OptionReader } from "@bq/idempotency-core/backend";
import { parseTableName, type TableName } from "./table-name.ts";

/** What every `PostgresStore` understands. */
export interface PostgresStoreOptions {
  /**
   * The table: a name, or `schema.name`. Letters keep their case. Without a schema the connection's `search_path` finds it.
   * Default `babelqueue_idempotency`.
   */
  table?: string | undefined;
  /** How long a mark lives, in milliseconds. Default: for ever. */
  ttlMs?: number | undefined;
  /**
   * The longest that `transact` waits for a concurrent transaction with the same id, in milliseconds; then it answers
   * `in-flight`. Also bounds the wait of `migrate` for the table's lock. Default 3 000; keep it below `storeTimeoutMs`.
   */
  lockTimeoutMs?: number | undefined;
  /**
   * How often a statement or a transaction is tried again after the server gave it up for a serialization failure or a
   * deadlock. Default 3; 0 never tries again.
   */
  retries?: number | undefined;
}

/** What `PostgresStore.connect` understands beside that. For anything else, make the client yourself and pass it. */
export interface PostgresConnectOptions extends PostgresStoreOptions {
  /** Whether statements are prepared. `false` for PgBouncer in transaction mode before its version 1.21. Default `true`. */
  prepare?: boolean | undefined;
  /** The most connections to open. Default 10. */
  maxConnections?: number | undefined;
  /** The longest that opening a connection may take, in milliseconds. Default 3 000. */
  connectTimeoutMs?: number | undefined;
  /** Under which name the server lists the connections. Default `bq-idempotency`. */
  applicationName?: string | undefined;
}

/** The options, read once: what a store works with. */
export interface Settings {
  readonly table: TableName;
  readonly ttlMs: number | undefined;
  readonly lockTimeoutMs: number;
  readonly retries: number;
}

export interface ConnectSettings {
  readonly prepare: boolean;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
}

const storeOptionNames = ["table", "ttlMs", "lockTimeoutMs", "retries"] as const;
const connectOptionNames = ["prepare", "maxConnections", "connectTimeoutMs", "applicationName"] as const;

export function readStoreOptions(options: PostgresStoreOptions | undefined): Settings {
  return settings(new OptionReader("PostgresStore", options, storeOptionNames));
}

/** The options of the client, and those of the store that works through it. */
export function readConnectOptions(options: PostgresConnectOptions): {
  client: ConnectSettings;
  store: PostgresStoreOptions;
} {
  const owner = "PostgresStore.connect";
  const read = new OptionReader(owner, options, [...storeOptionNames, ...connectOptionNames]);
  return {
    client: Object.freeze({
      prepare: read.flag("prepare") ?? true,
      maxConnections: read.integer("maxConnections", { min: 1, max: 1_000 }) ?? 10,
      connectTimeoutMs:
        read.integer("connectTimeoutMs", { min: 1, max: maxTimerMs, unit: "milliseconds" }) ?? 3_000,
      applicationName: read.text("applicationName") ?? "bq-idempotency",
    }),
    store: Object.fromEntries(storeOptionNames.map((name) => [name, options[name]])),
  };
}

function settings(read: OptionReader): Settings {
  return Object.freeze({
    table: parseTableName(read.text("table") ?? "babelqueue_idempotency"),
    ttlMs: read.ttlMs(),
    lockTimeoutMs: read.integer("lockTimeoutMs", { min: 1, max: maxTimerMs, unit: "milliseconds" }) ?? 3_000,
    retries: read.integer("retries", { min: 0, max: 100 }) ?? 3,
  });
}
