import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Sqlite from "better-sqlite3";
import Database from "better-sqlite3";
import { onTestFinished, vi } from "vitest";
import { SqliteStore, type SqliteStoreOptions } from "../../src/index.ts";

// These tests wait for real disks and for processes that start: how long that takes is not what they are about.
vi.setConfig({ testTimeout: 60_000 });

/** The path of a database in a folder of its own, which goes when the test ends. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "bq-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return join(folder, "marks.db");
}

/** A store with a connection of its own, closed when the test ends. */
export async function openStore(
  path: string = temporaryFile(),
  options?: SqliteStoreOptions,
): Promise<SqliteStore> {
  const store = await SqliteStore.connect(path, options);
  onTestFinished(() => store.close());
  return store;
}

/** A plain connection to the same file, as another program would have it, closed when the test ends. */
export function openDatabase(path: string, options?: Sqlite.Options): Sqlite.Database {
  const database = new Database(path, options);
  onTestFinished(() => {
    database.close();
  });
  return database;
}

/** A store on a borrowed connection, with its table made. */
export async function borrow(database: Sqlite.Database, options?: SqliteStoreOptions): Promise<SqliteStore> {
  const store = new SqliteStore(database, options);
  await store.migrate();
  return store;
}

/** What the call rejects with or throws; fails when it does neither. */
export async function errorOf(call: () => unknown): Promise<Error & { code?: string }> {
  try {
    await call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError(`Something else than an error was thrown: ${String(error)}`);
  }
  throw new Error("The call was expected to fail, but it did not.");
}
