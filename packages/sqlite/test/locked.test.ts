import { describe, expect, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

/** Holds the write lock for that long by a connection of this process, so it ends only if the event loop goes on. */
function lockFor(path: string, ms: number): { ticks: () => number; released: Promise<void> } {
  const other = openDatabase(path);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 1);
  const released = new Promise<void>((resolve) => {
    setTimeout(() => {
      clearInterval(ticking);
      other.exec("COMMIT");
      resolve();
    }, ms);
  });
  return { ticks: () => ticks, released };
}

describe("a locked database", () => {
  it("lets every operation wait for the lock while the event loop goes on", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const held = await store.claim("held", 60_000);
    if (held.status !== "claimed") throw new Error("nobody else can hold it");

    const { ticks, released } = lockFor(path, 500);
    const answers = await Promise.all([
      store.remember("a"),
      store.rememberMany(["b", "c"]),
      store.forget("d"),
      store.claim("e", 60_000),
      store.renew(held.claim, 60_000),
      store.transact("f", () => "done"),
      store.commit(held.claim),
    ]);
    expect(answers).toMatchObject([
      undefined,
      undefined,
      undefined,
      { status: "claimed" },
      true,
      { status: "ran", value: "done" },
      true,
    ]);
    await released;
    expect(ticks()).toBeGreaterThan(3);
  });

  it("holds up the event loop for none of many operations that wait at once", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const { ticks, released } = lockFor(path, 1_000);
    await Promise.all(Array.from({ length: 100 }, (_, place) => store.remember(`${place}`)));
    await released;
    // With a sleep of 20 ms in each attempt the loop would have come round but once.
    expect(ticks()).toBeGreaterThan(10);
  });

  it("keeps no reader waiting", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    await store.remember("a");
    const { released } = lockFor(path, 100);
    expect(store.seen("a")).toBe(true);
    expect(store.seenMany(["a", "b"])).toEqual([true, false]);
    expect(store.claim("a", 1_000)).toEqual({ status: "processed" });
    expect(await store.transact("a", () => "again")).toEqual({ status: "processed" });
    await released;
  });

  it("does not hold up the event loop through the long timeout of a borrowed connection, which keeps it", async () => {
    const path = temporaryFile();
    const database = openDatabase(path, { timeout: 4_321 });
    const store = await borrow(database);
    const { ticks, released } = lockFor(path, 500);
    await store.remember("a");
    await released;
    expect(ticks()).toBeGreaterThan(3);
    expect(database.pragma("busy_timeout", { simple: true })).toBe(4_321);
  });

  it("gives the owner's timeout back to the work of a transaction", async () => {
    const database = openDatabase(temporaryFile(), { timeout: 4_321 });
    const store = await borrow(database);
    const inside = await store.transact("a", (tx) => tx.pragma("busy_timeout", { simple: true }));
    expect(inside).toEqual({ status: "ran", value: 4_321 });
  });

  it("fails an operation when busyTimeoutMs is over, and says so, and leaves no trace of it", async () => {
    const path = temporaryFile();
    const store = await openStore(path, { busyTimeoutMs: 50 });
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    let ran = false;
    const calls = [
      () => store.remember("a"),
      () => store.claim("a", 60_000),
      () =>
        store.transact("a", () => {
          ran = true;
        }),
    ];
    for (const call of calls) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED", id: "a" });
      expect(error.message).toContain("50 ms (busyTimeoutMs)");
      expect(error.cause).toMatchObject({ code: "SQLITE_BUSY" });
    }
    other.exec("ROLLBACK");
    expect(ran).toBe(false);
    expect(await store.claim("a", 1_000)).toMatchObject({ status: "claimed" });
  });

  it("lets connect wait, both for the switch to WAL and for the table", async () => {
    const path = temporaryFile();
    const { ticks, released } = lockFor(path, 500);
    const store = await openStore(path);
    await store.remember("a");
    expect(store.seen("a")).toBe(true);
    await released;
    expect(ticks()).toBeGreaterThan(3);
  });

  it("fails connect when busyTimeoutMs is over, and leaves no connection behind", async () => {
    const path = temporaryFile();
    const other = openDatabase(path);
    other.exec("BEGIN EXCLUSIVE");
    const error = await errorOf(() => SqliteStore.connect(path, { busyTimeoutMs: 50 }));
    expect(error).toMatchObject({ name: "StoreError" });
    other.exec("ROLLBACK");
    // The switch needs the file to itself.
    expect(other.pragma("journal_mode = WAL", { simple: true })).toBe("wal");
    expect(other.pragma("journal_mode = DELETE", { simple: true })).toBe("delete");
  });

  it("lets readers wait too where the owner of the connection has kept the rollback journal", async () => {
    const path = temporaryFile();
    const store = await borrow(openDatabase(path));
    await store.remember("a");
    const other = openDatabase(path);
    other.exec("BEGIN EXCLUSIVE");
    const seen = store.seen("a");
    expect(seen).toBeInstanceOf(Promise);
    other.exec("COMMIT");
    expect(await seen).toBe(true);
  });

  it("does not let a reader who waited look into a transaction that the owner of the connection has begun meanwhile", async () => {
    const path = temporaryFile();
    const database = openDatabase(path);
    const store = await borrow(database);
    const other = openDatabase(path);
    other.exec("BEGIN EXCLUSIVE");
    const answer = errorOf(() => store.seen("a"));
    database.exec("BEGIN");
    other.exec("COMMIT");
    // Its rollback would take this mark back, and the message would have been skipped for it.
    store.within(database).remember("a");
    expect(await answer).toMatchObject({ name: "StoreError", message: /in a transaction/ });
    database.exec("ROLLBACK");
    expect(store.seen("a")).toBe(false);
  });
});
