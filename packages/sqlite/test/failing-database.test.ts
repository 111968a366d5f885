import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

describe("a database that fails", () => {
  it("by being full tells no mark as written", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.pragma(`max_page_count = ${database.pragma("page_count", { simple: true })}`);
    const written: string[] = [];
    const error = await errorOf(async () => {
      for (let count = 0; ; count++) {
        await store.remember(`mark-${count}`);
        written.push(`mark-${count}`);
      }
    });
    expect(error).toMatchObject({ name: "StoreError", cause: { code: "SQLITE_FULL" } });
    expect(await store.seen(`mark-${written.length}`)).toBe(false);
    expect(await store.seenMany(written)).toEqual(written.map(() => true));
  });

  it("by being full in the middle of a group tells each caller the truth", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.pragma(`max_page_count = ${Number(database.pragma("page_count", { simple: true })) + 2}`);
    const ids = Array.from({ length: 1_000 }, (_, place) => `mark-${place}`);
    const results = await Promise.allSettled(ids.map((id) => store.remember(id)));
    const written = results.map(({ status }) => status === "fulfilled");
    expect(new Set(written)).toEqual(new Set([true, false]));
    expect(await store.seenMany(ids)).toEqual(written);
  });

  it("in the middle of a batch keeps none of it", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.pragma(`max_page_count = ${database.pragma("page_count", { simple: true })}`);
    const ids = Array.from({ length: 5_000 }, (_, place) => `mark-${place}`);
    expect(await errorOf(() => store.rememberMany(ids))).toMatchObject({ cause: { code: "SQLITE_FULL" } });
    expect(await store.seenMany(ids)).toEqual(ids.map(() => false));
  });

  it("by being read-only says so, and reads", async () => {
    const path = temporaryFile();
    await (await openStore(path)).remember("a");
    const store = new SqliteStore(openDatabase(path, { readonly: true }));
    expect(await store.seen("a")).toBe(true);
    for (const call of [() => store.remember("b"), () => store.transact("b", () => undefined)]) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ name: "StoreError", cause: { code: "SQLITE_READONLY" } });
    }
  });

  it("by being no database cannot be opened", async () => {
    const path = temporaryFile();
    writeFileSync(path, "not a database, but long enough to be looked at as one".repeat(50));
    expect(await errorOf(() => SqliteStore.connect(path))).toMatchObject({ name: "StoreError" });
  });

  it("by having no folder cannot be opened", async () => {
    const path = join(dirname(temporaryFile()), "missing", "marks.db");
    const error = await errorOf(() => SqliteStore.connect(path));
    expect(error).toMatchObject({ name: "StoreError" });
    expect(error.message).toContain("directory does not exist");
    mkdirSync(dirname(path));
    await openStore(path);
  });

  it("while its owner reads from it with an open iterator says what is in the way", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    const rows = database.prepare("SELECT 1 UNION SELECT 2").iterate();
    rows.next();
    expect(await store.seen("a")).toBe(false);
    expect((await errorOf(() => store.remember("a"))).message).toContain("busy executing a query");
    rows.return?.();
    await store.remember("a");
    expect(await store.seen("a")).toBe(true);
  });
});

describe("a row that this version never writes", () => {
  it.each([
    ["expires_at", "'soon', NULL, NULL"],
    ["expires_at", "1.5, NULL, NULL"],
    ["expires_at", "-1, NULL, NULL"],
    ["expires_at", "x'00', NULL, NULL"],
    ["claim_token", "0, NULL, 9999999999999"],
    ["claimed_until", "0, 'token', NULL"],
    ["claimed_until", "0, 'token', 'later'"],
  ])("is an error that names its %s, never a guess (%s)", async (column, values) => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.exec(`INSERT INTO babelqueue_idempotency VALUES ('odd', 1, ${values})`);
    const before = database.prepare("SELECT * FROM babelqueue_idempotency").all();
    const calls = [
      () => store.seen("odd"),
      () => store.seenMany(["other", "odd"]),
      () => store.claim("odd", 60_000),
      () => store.transact("odd", () => undefined),
    ];
    for (const call of calls) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ name: "StoreError", code: "BQ_STORE_SCHEMA" });
      expect(error.message).toContain('"odd"');
      expect(error.message).toContain(column);
    }
    expect(await store.purge()).toBe(0);
    expect(database.prepare("SELECT * FROM babelqueue_idempotency").all()).toEqual(before);
    await store.remember("odd");
    expect(await store.seen("odd")).toBe(true);
  });

  it("but a claim that a program without claims has marked is a mark", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    await store.claim("a", 60_000);
    database.exec("UPDATE babelqueue_idempotency SET expires_at = NULL");
    expect(await store.seen("a")).toBe(true);
    expect(await store.claim("a", 60_000)).toEqual({ status: "processed" });
  });
});
