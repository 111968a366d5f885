import type Sqlite from "better-sqlite3";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { borrow, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

async function codes(store: SqliteStore): Promise<string[]> {
  return (await store.check()).map(({ severity, code }) => `${severity} ${code}`);
}

async function lend(setUp: (database: Sqlite.Database) => void): Promise<SqliteStore> {
  const database = openDatabase(temporaryFile());
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  // Otherwise SQLite does not turn its journal off.
  database.unsafeMode(true);
  setUp(database);
  return borrow(database);
}

describe("check", () => {
  it("finds nothing in what connect has opened", async () => {
    expect(await codes(await openStore())).toEqual([]);
  });

  it("finds nothing on a borrowed connection with the same settings", async () => {
    expect(await codes(await lend(() => undefined))).toEqual([]);
  });

  it.each([
    ["synchronous = OFF", "error synchronous"],
    ["synchronous = NORMAL", "warning synchronous"],
    ["journal_mode = DELETE", "warning journal-mode"],
    ["journal_mode = OFF", "error journal-mode"],
    ["journal_mode = MEMORY", "error journal-mode"],
  ])("finds PRAGMA %s", async (pragma, finding) => {
    const store = await lend((database) => database.pragma(pragma));
    expect(await codes(store)).toEqual([finding]);
  });

  it("says what to change, in a sentence", async () => {
    const store = await lend((database) => database.pragma("synchronous = OFF"));
    const [finding] = await store.check();
    expect(finding?.message).toMatch(/synchronous is OFF.*PRAGMA synchronous = FULL/);
  });

  it("finds a database in memory, which works all the same", async () => {
    const store = await openStore(":memory:");
    await store.remember("a");
    expect(await store.seen("a")).toBe(true);
    expect(await codes(store)).toEqual(["error in-memory"]);
  });

  it("finds a connection that can only read", async () => {
    const path = temporaryFile();
    await (await openStore(path)).remember("a");
    const store = new SqliteStore(openDatabase(path, { readonly: true }));
    expect(await store.seen("a")).toBe(true);
    expect(await codes(store)).toContain("error readonly");
  });

  it("finds a table that is missing, or of another shape", async () => {
    const database = new Database(":memory:");
    onTestFinished(() => {
      database.close();
    });
    const store = new SqliteStore(database);
    expect(await codes(store)).toContain("error table");
    database.exec("CREATE TABLE babelqueue_idempotency (note TEXT)");
    const found = (await store.check()).find(({ code }) => code === "table");
    expect(found?.message).toContain("no column message_id");
  });
});
