import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { createSqliteLedger } from "../sqlite-ledger.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export async function startSqliteStore(folder: string): Promise<StoreUnderTest> {
  const path = join(folder, "marks.db");
  createSqliteLedger(path);
  return {
    address: { kind: "sqlite", path },
    injure: {
      async "store-lock"(forMs) {
        await holdWriteLock(path, forMs);
        return undefined;
      },
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Another program on the same file, in a transaction that takes its time. */
async function holdWriteLock(path: string, forMs: number): Promise<void> {
  // It must not wait in the driver, which would stop the network that this process plays.
  const database = new Database(path, { timeout: 0 });
  try {
    while (!tryToBegin(database)) await pause(1);
    await pause(forMs);
  } finally {
    database.close();
  }
}

function tryToBegin(database: Database.Database): boolean {
  try {
    database.exec("BEGIN IMMEDIATE");
    return true;
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return false;
    throw error;
  }
}
