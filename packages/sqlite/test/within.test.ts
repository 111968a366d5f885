import { describe, expect, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

describe("within", () => {
  it("keeps the mark when the caller's transaction commits, and drops it when that rolls back", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const tx = openDatabase(path);
    const marks = store.within(tx);

    tx.exec("BEGIN IMMEDIATE");
    marks.remember("dropped");
    expect(marks.seen("dropped")).toBe(true);
    expect(await store.seen("dropped")).toBe(false);
    tx.exec("ROLLBACK");
    expect(await store.seen("dropped")).toBe(false);

    tx.transaction(() => marks.remember("kept")).immediate();
    expect(await store.seen("kept")).toBe(true);
    tx.transaction(() => marks.forget("kept")).immediate();
    expect(await store.seen("kept")).toBe(false);
  });

  it("works on the connection that the store itself has borrowed", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.transaction(() => store.within(database).remember("a")).immediate();
    expect(await store.seen("a")).toBe(true);
  });

  it("works inside the work of transact", async () => {
    const store = await openStore();
    await store.transact("order", (tx) => store.within(tx).remember("each line of it"));
    expect(await store.seenMany(["order", "each line of it"])).toEqual([true, true]);
  });

  it("does not abort the caller's transaction for an id that is marked already", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    await store.remember("a");
    const tx = openDatabase(path);
    tx.exec("CREATE TABLE effects (note TEXT)");
    tx.transaction(() => {
      tx.exec("INSERT INTO effects VALUES ('before')");
      store.within(tx).remember("a");
      tx.exec("INSERT INTO effects VALUES ('after')");
    }).immediate();
    expect(tx.prepare("SELECT note FROM effects").pluck().all()).toEqual(["before", "after"]);
  });

  it("refuses a connection that is in no transaction", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const error = await errorOf(() => store.within(openDatabase(path)).remember("a"));
    expect(error).toMatchObject({ name: "StoreError" });
    expect(error.message).toContain("begin one first");
    expect(() => store.within({} as never)).toThrow(TypeError);
  });
});

describe("a store on a connection that is in a transaction", () => {
  it("refuses every operation, whose answer a rollback could take back", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    const taken = await store.claim("claimed", 60_000);
    if (taken.status !== "claimed") throw new Error("nobody else can hold it");
    database.exec("BEGIN");
    const calls = [
      () => store.seen("a"),
      () => store.seenMany(["a"]),
      () => store.remember("a"),
      () => store.rememberMany(["a"]),
      () => store.forget("a"),
      () => store.claim("a", 60_000),
      () => store.renew(taken.claim, 60_000),
      () => store.commit(taken.claim),
      () => store.release(taken.claim),
      () => store.transact("a", () => undefined),
      () => store.migrate(),
      () => store.purge(),
    ];
    for (const call of calls) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ name: "StoreError" });
      expect(error.message).toContain("store.within(tx)");
    }
    database.exec("ROLLBACK");
    expect(await store.commit(taken.claim)).toBe(true);
  });

  it("refuses at once, so that the caller's transaction fails with it", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.exec("CREATE TABLE effects (note TEXT)");
    const work = database.transaction(() => {
      database.exec("INSERT INTO effects VALUES ('a')");
      store.remember("a");
    });
    expect(work).toThrow("within(tx)");
    expect(database.prepare("SELECT count(*) FROM effects").pluck().get()).toBe(0);
  });

  it("is told what within is for by a store that has no table yet, too", async () => {
    const database = openDatabase(temporaryFile());
    const store = new SqliteStore(database);
    database.exec("BEGIN");
    expect((await errorOf(() => store.within(database).remember("a"))).message).toContain("call migrate()");
    database.exec("ROLLBACK");
  });
});
