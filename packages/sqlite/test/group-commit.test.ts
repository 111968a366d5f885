import { AsyncLocalStorage } from "node:async_hooks";
import type Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { SqliteStore, SqliteStoreOptions } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";
import { WorkerProcess } from "./support/worker-process.ts";

interface Watched {
  readonly path: string;
  readonly database: Sqlite.Database;
  readonly store: SqliteStore;
  /** What the driver has run since, and whatever else a test adds. */
  readonly log: string[];
}

/** A store on a connection that tells every statement. */
async function watch(options?: SqliteStoreOptions): Promise<Watched> {
  const path = temporaryFile();
  const log: string[] = [];
  const database = openDatabase(path, { timeout: 0, verbose: (sql) => log.push(String(sql).trim()) });
  database.pragma("journal_mode = WAL");
  const store = await borrow(database, options);
  // So that the statements are prepared.
  await store.remember("first");
  log.length = 0;
  return { path, database, store, log };
}

/** The writes of each transaction that was committed. */
function transactions(log: readonly string[]): number[] {
  const sizes: number[] = [];
  let size = 0;
  for (const sql of log) {
    if (sql === "BEGIN IMMEDIATE") size = 0;
    if (/^(INSERT|UPDATE|DELETE)/.test(sql)) size++;
    if (sql === "COMMIT") sizes.push(size);
  }
  return sizes;
}

/** Lets the mark of `bad` fail in a way that SQLite offers. */
function failFor(database: Sqlite.Database, action: string): void {
  database.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON babelqueue_idempotency WHEN NEW.message_id = 'bad' BEGIN ${action} END`,
  );
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, place) => `${place}`);

describe("writes of one turn", () => {
  it("share one transaction, whatever they are", async () => {
    const { store, log } = await watch();
    const held = await Promise.all([
      store.claim("a", 60_000),
      store.claim("b", 60_000),
      store.claim("c", 60_000),
    ]);
    expect(transactions(log)).toEqual([3]);
    const [a, b, c] = held.map((result) => {
      if (result.status !== "claimed") throw new Error("nobody else can hold it");
      return result.claim;
    });
    if (!a || !b || !c) throw new Error("three were claimed");

    log.length = 0;
    const answers = await Promise.all([
      store.remember("d"),
      store.forget("e"),
      store.claim("f", 60_000),
      store.renew(a, 60_000),
      store.commit(b),
      store.release(c),
      store.rememberMany(["g", "h"]),
    ]);
    expect(answers).toMatchObject([undefined, undefined, { status: "claimed" }, true, true, true, undefined]);
    expect(transactions(log)).toEqual([7]);
    expect(await store.seenMany(["a", "b", "c", "d", "e", "f", "g", "h"])).toEqual([
      false,
      true,
      false,
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it("share it also when their callers have awaited other things first", async () => {
    const { store, log } = await watch();
    const deliver = async (id: string, awaits: number): Promise<void> => {
      for (let count = 0; count < awaits; count++) await undefined;
      await store.remember(id);
    };
    await Promise.all(numbered(64).map((id) => deliver(id, Number(id) % 7)));
    expect(transactions(log)).toEqual([64]);
  });

  it("are performed in the order of their calls", async () => {
    const { store, log } = await watch();
    await Promise.all([store.remember("a"), store.forget("a"), store.forget("b"), store.remember("b")]);
    expect(await store.seenMany(["a", "b"])).toEqual([false, true]);
    const [first, second] = await Promise.all([store.claim("c", 60_000), store.claim("c", 60_000)]);
    expect([first.status, second.status]).toEqual(["claimed", "in-flight"]);
    expect(transactions(log)).toEqual([4, 1]);
  });

  it("are answered when they are on the disk, and not before", async () => {
    const { path, store, log } = await watch();
    const witness = openDatabase(path);
    const count = witness
      .prepare("SELECT count(*) FROM babelqueue_idempotency WHERE message_id <> 'first'")
      .pluck();
    const answered = async (id: string): Promise<void> => {
      await store.remember(id);
      log.push("answered");
      expect(count.get()).toBe(3);
    };
    await Promise.all(["a", "b", "c"].map(answered));
    expect(log.slice(-4)).toEqual(["COMMIT", "answered", "answered", "answered"]);
  });

  it("fill several transactions when they are many, and the event loop goes round in between", async () => {
    const { store, log } = await watch();
    const marks = Promise.all(numbered(1_000).map((id) => store.remember(id)));
    let turns = 0;
    let turn = setImmediate(function next() {
      turns++;
      turn = setImmediate(next);
    });
    await marks;
    clearImmediate(turn);
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(transactions(log)).toEqual([256, 256, 256, 232]);
    expect(await store.seenMany(numbered(1_000))).toEqual(numbered(1_000).map(() => true));

    log.length = 0;
    await Promise.all([store.rememberMany(numbered(1_000)), store.remember("a"), store.remember("b")]);
    expect(transactions(log)).toEqual([1, 2]);
  });

  it("leave each caller in his own async context", async () => {
    const store = await openStore();
    const context = new AsyncLocalStorage<string>();
    const contexts = await Promise.all(
      numbered(10).map((id) =>
        context.run(id, async () => {
          await store.remember(id);
          return context.getStore();
        }),
      ),
    );
    expect(contexts).toEqual(numbered(10));
  });

  it("keep a process that has nothing else to do alive until they are done, and no longer", async () => {
    const path = temporaryFile();
    const worker = new WorkerProcess("remember-and-end", path, "a", "b");
    await worker.ended();
    expect(await (await openStore(path)).seenMany(["a", "b"])).toEqual([true, true]);
  });
});

describe("a call behind a write of the same id that is still to be performed", () => {
  it("finds what the write will leave", async () => {
    const { store, log } = await watch();
    await store.remember("dropped");
    log.length = 0;
    const answers = await Promise.all([
      store.remember("a"),
      store.seen("a"),
      store.claim("a", 60_000),
      store.forget("dropped"),
      store.seenMany(["first", "dropped"]),
      store.claim("dropped", 60_000),
    ]);
    expect(answers).toMatchObject([
      undefined,
      true,
      { status: "processed" },
      undefined,
      [true, false],
      { status: "claimed" },
    ]);
    expect(transactions(log)).toEqual([3]);
  });

  it("waits as a transaction, too", async () => {
    const { store } = await watch();
    const mark = store.remember("a");
    expect(await store.transact("a", () => "again")).toEqual({ status: "processed" });
    await mark;
  });

  it("is the only one that waits", async () => {
    const { store } = await watch();
    const mark = store.remember("a");
    expect(store.seen("first")).toBe(true);
    expect(store.seenMany(["first", "b"])).toEqual([true, false]);
    expect(store.claim("first", 60_000)).toEqual({ status: "processed" });
    expect(await store.transact("b", (tx) => tx.inTransaction)).toEqual({ status: "ran", value: true });
    await mark;
  });
});

describe("a write that fails", () => {
  it.each([
    ["its statement alone is undone", "SELECT RAISE(ABORT, 'refused');"],
    ["SQLite rolls back the transaction", "SELECT RAISE(ROLLBACK, 'refused');"],
  ])("fails alone, when %s", async (_, action) => {
    const { database, store } = await watch();
    failFor(database, action);
    const results = await Promise.allSettled([
      store.remember("a"),
      store.remember("bad"),
      store.rememberMany(["b", "bad", "c"]),
      store.claim("d", 60_000),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { name: "StoreError", operation: "remember", id: "bad" } });
    expect(results[2]).toMatchObject({
      reason: { operation: "rememberMany", cause: { message: "refused" } },
    });
    expect(await store.seenMany(["a", "bad", "b", "c"])).toEqual([true, false, false, false]);
    expect(await store.claim("d", 60_000)).toMatchObject({ status: "in-flight" });
  });

  it("by a row of unknown shape fails alone", async () => {
    const { path, store } = await watch();
    const other = openDatabase(path);
    const claims = [store.claim("a", 60_000), store.claim("odd", 60_000), store.claim("b", 60_000)];
    other.exec("INSERT INTO babelqueue_idempotency VALUES ('odd', 1, 'soon', NULL, NULL)");
    expect(await Promise.allSettled(claims)).toMatchObject([
      { value: { status: "claimed" } },
      { reason: { code: "BQ_STORE_SCHEMA" } },
      { value: { status: "claimed" } },
    ]);
  });
});

describe("a COMMIT that fails", () => {
  it("is told to each caller by his own error, and nothing of the group is kept", async () => {
    const { database, store } = await watch();
    database.exec("CREATE TABLE lines (note TEXT REFERENCES nowhere DEFERRABLE INITIALLY DEFERRED)");
    database.exec("CREATE TABLE nowhere (note TEXT PRIMARY KEY)");
    failFor(database, "INSERT INTO lines VALUES ('of nothing');");
    const calls = [store.remember("a"), store.remember("bad"), store.claim("b", 60_000)];
    const results = await Promise.allSettled(calls);
    expect(results).toMatchObject([
      { reason: { operation: "remember", id: "a", cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } } },
      { reason: { operation: "remember", id: "bad", cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } } },
      { reason: { operation: "claim", id: "b", cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } } },
    ]);
    expect(database.inTransaction).toBe(false);
    expect(await store.seenMany(["a", "bad"])).toEqual([false, false]);
    expect(await store.claim("b", 60_000)).toMatchObject({ status: "claimed" });
  });

  it("for a reader is made again until the reader is done, or busyTimeoutMs is over", async () => {
    const path = temporaryFile();
    // With the rollback journal, whose COMMIT needs the file to itself.
    const store = await borrow(openDatabase(path), { busyTimeoutMs: 2_000 });
    const impatient = await borrow(openDatabase(path), { busyTimeoutMs: 50 });
    const reader = openDatabase(path);
    reader.exec("BEGIN; SELECT * FROM babelqueue_idempotency");
    const refused = await Promise.allSettled([impatient.remember("a"), impatient.remember("b")]);
    expect(refused).toMatchObject([
      { reason: { id: "a", cause: { code: "SQLITE_BUSY" } } },
      { reason: { id: "b", cause: { code: "SQLITE_BUSY" } } },
    ]);
    const marks = Promise.all([store.remember("c"), store.remember("d")]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    reader.exec("COMMIT");
    await marks;
    expect(await store.seenMany(["a", "b", "c", "d"])).toEqual([false, false, true, true]);
  });
});

describe("a transaction that the connection's owner begins before the turn ends", () => {
  it("is not joined by the writes, which wait for its end", async () => {
    const { database, store } = await watch();
    const marks = Promise.all([store.remember("a"), store.remember("b")]);
    database.exec("BEGIN");
    await new Promise((resolve) => setTimeout(resolve, 50));
    database.exec("ROLLBACK");
    await marks;
    expect(await store.seenMany(["a", "b"])).toEqual([true, true]);
  });

  it("makes them fail when it outlasts busyTimeoutMs", async () => {
    const { database, store } = await watch({ busyTimeoutMs: 50 });
    const results = Promise.allSettled([store.remember("a"), store.claim("b", 60_000)]);
    database.exec("BEGIN");
    for (const result of await results) {
      const { reason } = result as PromiseRejectedResult;
      expect(reason).toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
      expect(reason.message).toContain("in a transaction of its owner for all of the 50 ms (busyTimeoutMs)");
    }
    database.exec("COMMIT");
    expect(await store.seen("a")).toBe(false);
    await store.remember("a");
  });
});

describe("close", () => {
  it("in the turn of the writes lets all of them be performed, and refuses what comes after it", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const marks = Promise.all(numbered(600).map((id) => store.remember(id)));
    const closed = store.close();
    expect(await errorOf(() => store.remember("late"))).toMatchObject({ code: "BQ_STORE_CLOSED" });
    await closed;
    await marks;
    const after = await openStore(path);
    expect(await after.seenMany([...numbered(600), "late"])).toEqual([
      ...numbered(600).map(() => true),
      false,
    ]);
  });

  it("of the connection by its owner before the turn ends is told to each caller", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    const marks = Promise.allSettled([store.remember("a"), store.remember("b")]);
    database.close();
    expect(await marks).toMatchObject([
      { reason: { id: "a", code: "BQ_STORE_CLOSED" } },
      { reason: { id: "b", code: "BQ_STORE_CLOSED" } },
    ]);
    await store.close();
  });
});
