import type { Finding } from "@bq/idempotency-core";
import { isStoreError } from "@bq/idempotency-core";
import type Sqlite from "better-sqlite3";
import type { Settings } from "./options.ts";
import { requireTable } from "./schema.ts";

/** Looks at what decides whether acknowledged marks survive, and whether the store can work at all. */
export function findings(database: Sqlite.Database, settings: Settings): Finding[] {
  return [
    ...inMemory(database),
    ...readOnly(database),
    ...journalMode(database),
    ...synchronous(database),
    ...table(database, settings),
  ];
}

function inMemory({ memory }: Sqlite.Database): Finding[] {
  if (!memory) return [];
  return [
    {
      severity: "error",
      code: "in-memory",
      message: "The database is in memory, so every mark is lost with the process: open a file.",
    },
  ];
}

function readOnly({ readonly }: Sqlite.Database): Finding[] {
  if (!readonly) return [];
  return [
    {
      severity: "error",
      code: "readonly",
      message: "The connection is read-only, so no mark can be written: open it without the option readonly.",
    },
  ];
}

function journalMode(database: Sqlite.Database): Finding[] {
  const mode = String(setting(database, "journal_mode"));
  if (mode === "wal" || (mode === "memory" && database.memory)) return [];
  const unsafe = mode === "off" || mode === "memory";
  return [
    {
      severity: unsafe ? "error" : "warning",
      code: "journal-mode",
      message: unsafe
        ? `The journal mode is ${mode}, so a crash can destroy the database: set PRAGMA journal_mode = WAL.`
        : `The journal mode is ${mode}, so readers and writers wait for each other: set PRAGMA journal_mode = WAL.`,
    },
  ];
}

function synchronous(database: Sqlite.Database): Finding[] {
  const level = Number(setting(database, "synchronous"));
  if (level >= 2) return [];
  const off = level === 0;
  return [
    {
      severity: off ? "error" : "warning",
      code: "synchronous",
      message: `synchronous is ${off ? "OFF" : "NORMAL"}, so a power failure can lose ${off ? "marks or the whole database" : "the last marks"}: set PRAGMA synchronous = FULL on the connection.`,
    },
  ];
}

function table(database: Sqlite.Database, settings: Settings): Finding[] {
  try {
    requireTable(database, settings);
    return [];
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return [{ severity: "error", code: "table", message: error.message }];
  }
}

function setting(database: Sqlite.Database, name: string): unknown {
  return database.prepare(`PRAGMA main.${name}`).pluck(true).safeIntegers(false).get();
}
