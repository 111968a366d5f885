import { describe, expect, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";
import { WorkerProcess } from "./support/worker-process.ts";

const columnNames = ["message_id", "created_at", "expires_at", "claim_token", "claimed_until"];

describe("migrate", () => {
  it("makes the table that ddl tells, once and for all", async () => {
    const database = openDatabase(temporaryFile());
    const store = new SqliteStore(database, { table: "seen_orders" });
    await store.migrate();
    await store.migrate();
    const columns = database.prepare("SELECT name FROM pragma_table_info('seen_orders')").pluck().all();
    expect(columns).toEqual(columnNames);

    const byHand = openDatabase(temporaryFile());
    byHand.exec(store.ddl());
    const same = new SqliteStore(byHand, { table: "seen_orders" });
    await same.remember("a");
    expect(await same.seen("a")).toBe(true);
    const sql = "SELECT sql FROM sqlite_master WHERE name = 'seen_orders'";
    expect(byHand.prepare(sql).get()).toEqual(database.prepare(sql).get());
  });

  it("writes times as integers", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database, { ttlMs: 60_000 });
    await store.remember("a");
    await store.rememberMany(["b"]);
    await store.claim("c", 60_000);
    const types = database
      .prepare("SELECT DISTINCT typeof(created_at), typeof(expires_at) FROM babelqueue_idempotency")
      .raw()
      .all();
    expect(types).toEqual([["integer", "integer"]]);
  });

  it("of 8 processes at once leaves one right table, and none of them fails", async () => {
    const path = temporaryFile();
    const processes = Array.from({ length: 8 }, () => new WorkerProcess("migrate", path));
    for (const process of processes) expect(await process.receive()).toBe("ready");
    for (const process of processes) process.send("go");
    expect(await Promise.all(processes.map((process) => process.receive()))).toEqual(processes.map(() => ""));
    const marks = openDatabase(path).prepare("SELECT count(*) FROM babelqueue_idempotency").pluck().get();
    expect(marks).toBe(processes.length);
    await openStore(path);
  });

  it("of 20 connections at once works on a file that is not there yet", async () => {
    const path = temporaryFile();
    const stores = await Promise.all(Array.from({ length: 20 }, () => openStore(path)));
    await Promise.all(stores.map((store, place) => store.remember(`${place}`)));
    const ids = stores.map((_, place) => `${place}`);
    expect(await (await openStore(path)).seenMany(ids)).toEqual(ids.map(() => true));
  });

  it("adds the columns of claims to a table of marks, and keeps the marks", async () => {
    const database = openDatabase(temporaryFile());
    database.exec(
      "CREATE TABLE babelqueue_idempotency (message_id TEXT PRIMARY KEY, created_at BIGINT NOT NULL, expires_at BIGINT)",
    );
    database.exec("INSERT INTO babelqueue_idempotency VALUES ('old', 1, NULL), ('expired', 1, 2)");
    const store = new SqliteStore(database);
    expect((await errorOf(() => store.seen("old"))).message).toContain("call migrate()");
    await store.migrate();
    expect(await store.seenMany(["old", "expired"])).toEqual([true, false]);
    expect(await store.claim("new", 60_000)).toMatchObject({ status: "claimed" });
    expect(await store.claim("expired", 60_000)).toMatchObject({ status: "claimed" });
  });

  it("takes no lock where there is nothing to do", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    await Promise.all([store.migrate(), openStore(path, { busyTimeoutMs: 0 })]);
    other.exec("ROLLBACK");
  });

  it("leaves columns of somebody else's alone as long as they need no value", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.exec("ALTER TABLE babelqueue_idempotency ADD COLUMN note TEXT NOT NULL DEFAULT ''");
    await store.migrate();
    await store.remember("a");
    expect(await new SqliteStore(database).seen("a")).toBe(true);
  });

  it.each([
    ["(message_id TEXT, created_at INTEGER, expires_at INTEGER)", "not part of the primary key"],
    ["(message_id INTEGER PRIMARY KEY, created_at INTEGER, expires_at INTEGER)", "message_id is INTEGER"],
    ["(message_id TEXT COLLATE NOCASE PRIMARY KEY, created_at INTEGER, expires_at INTEGER)", "by NOCASE"],
    ["(message_id TEXT COLLATE RTRIM PRIMARY KEY, created_at INT, expires_at INT) WITHOUT ROWID", "by RTRIM"],
    ["(message_id TEXT PRIMARY KEY, created_at DATETIME, expires_at DATETIME)", "expires_at is DATETIME"],
    [
      "(message_id TEXT PRIMARY KEY, created_at INTEGER, expires_at INTEGER NOT NULL)",
      "must not be NOT NULL",
    ],
    ["(message_id TEXT PRIMARY KEY, created_at INTEGER)", "no column expires_at"],
    [
      "(message_id TEXT, queue TEXT, created_at INT, expires_at INT, PRIMARY KEY (message_id, queue))",
      "queue",
    ],
    ["(message_id TEXT PRIMARY KEY, created_at INT, expires_at INT, owner TEXT NOT NULL)", "column owner"],
    ["(name TEXT)", "no column message_id"],
  ])("refuses a table %s", async (shape, difference) => {
    const path = temporaryFile();
    openDatabase(path).exec(`CREATE TABLE babelqueue_idempotency ${shape}`);
    const error = await errorOf(() => SqliteStore.connect(path));
    expect(error).toMatchObject({ name: "StoreError", code: "BQ_STORE_SCHEMA" });
    expect(error.message).toContain(difference);
    // A store that was not migrated does not work on it either.
    const borrowed = new SqliteStore(openDatabase(path));
    expect(await errorOf(() => borrowed.remember("a"))).toMatchObject({ code: "BQ_STORE_SCHEMA" });
  });
});

describe("a store without its table", () => {
  it("says that migrate is to be called, and works after it", async () => {
    const store = new SqliteStore(openDatabase(temporaryFile()));
    for (const call of [() => store.seen("a"), () => store.transact("a", () => undefined)]) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ name: "StoreError", code: "BQ_STORE_SCHEMA" });
      expect(error.message).toContain("call migrate()");
    }
    await store.migrate();
    expect(await store.seen("a")).toBe(false);
  });
});
