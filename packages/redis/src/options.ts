import { OptionReader, show } from "@bq/idempotency-core/backend";

/** The longest that a command or a connection attempt may be told to take, in milliseconds: ten minutes. */
const longestLimitMs = 600_000;

/** What every store has, whoever owns its client. */
export interface RedisStoreOptions {
  /**
   * What the key of every mark and claim starts with. Default `"bq:idempotency:"`. Each consumer that processes messages on
   * its own needs its own prefix, and no prefix may be the beginning of another's.
   */
  prefix?: string | undefined;
  /** How long a mark lives, in milliseconds. Default: for ever. */
  ttlMs?: number | undefined;
}

/** What a store that makes its own client has beside that. */
export interface RedisConnectOptions extends RedisStoreOptions {
  /** The longest that one operation may take, reconnecting included, in milliseconds. Default 3 000, at most 600 000. */
  commandTimeoutMs?: number | undefined;
  /** The longest that connecting may take, in milliseconds. Default 3 000, at most 600 000. */
  connectTimeoutMs?: number | undefined;
}

/** What a store works with, read once. */
export interface Settings {
  readonly prefix: string;
  readonly ttlMs: number | undefined;
}

/** What an own connection works with, read once. */
export interface ConnectSettings {
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

const storeOptionNames = ["prefix", "ttlMs"] as const;

/** Reads the options of `new RedisStore`. */
export function readOptions(options: RedisStoreOptions | undefined): Settings {
  return storeSettings(new OptionReader("RedisStore", options, storeOptionNames));
}

/** Reads the options of `RedisStore.connect`. */
export function readConnectOptions(options: RedisConnectOptions | undefined): Settings & ConnectSettings {
  const read = new OptionReader("RedisStore.connect", options, [
    ...storeOptionNames,
    "commandTimeoutMs",
    "connectTimeoutMs",
  ]);
  const limit = { min: 1, max: longestLimitMs, unit: "milliseconds" };
  return Object.freeze({
    ...storeSettings(read),
    commandTimeoutMs: read.integer("commandTimeoutMs", limit) ?? 3_000,
    connectTimeoutMs: read.integer("connectTimeoutMs", limit) ?? 3_000,
  });
}

function storeSettings(read: OptionReader): Settings {
  return Object.freeze({
    prefix: requirePrefix(read.text("prefix") ?? "bq:idempotency:"),
    ttlMs: read.ttlMs(),
  });
}

function requirePrefix(prefix: string): string {
  if (prefix === "") {
    throw new TypeError(
      "RedisStore: prefix must not be empty, for the keys would mix with all others in the database. Leave it out for the default.",
    );
  }
  // On the wire every lone surrogate becomes the same replacement character, so that two prefixes would be one.
  if (Buffer.from(prefix).toString() !== prefix) {
    throw new TypeError(
      `RedisStore: prefix must be well-formed Unicode, without lone surrogates, got ${show(prefix)}.`,
    );
  }
  return prefix;
}
