import { describe, expect, it } from "vitest";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

describe("close", () => {
  it("may be called again, at once and later", async () => {
    const store = await openStore();
    await Promise.all([store.close(), store.close()]);
    await store.close();
  });

  it("refuses what comes after it", async () => {
    const store = await openStore();
    await store.close();
    const calls = [
      () => store.seen("a"),
      () => store.remember("a"),
      () => store.forget("a"),
      () => store.seenMany(["a"]),
      () => store.rememberMany(["a"]),
      () => store.claim("a", 1_000),
      () => store.commit({ id: "a", token: "t" }),
      () => store.transact("a", () => undefined),
      () => store.migrate(),
      () => store.purge(),
      () => store.purgeEvery(1_000),
      () => store.check(),
    ];
    for (const call of calls) expect(await errorOf(call)).toMatchObject({ code: "BQ_STORE_CLOSED" });
  });

  it("waits for the marks that wait for a lock", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    const marks = Promise.all([store.remember("a"), store.rememberMany(["b", "c"])]);
    const closed = store.close();
    expect(await errorOf(() => store.remember("late"))).toMatchObject({ code: "BQ_STORE_CLOSED" });
    other.exec("COMMIT");
    await Promise.all([marks, closed]);
    const after = await openStore(path);
    expect(await after.seenMany(["a", "b", "c", "late"])).toEqual([true, true, true, false]);
  });

  it("ends the connection that connect opened", async () => {
    const store = await openStore();
    let handedOut: { open: boolean } | undefined;
    await store.transact(undefined, (tx) => {
      handedOut = tx;
    });
    expect(handedOut?.open).toBe(true);
    await store.close();
    expect(handedOut?.open).toBe(false);
  });

  it("called by the work of a transaction lets it commit", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    let closed: Promise<void> | undefined;
    const result = await store.transact("a", () => {
      closed = store.close();
    });
    expect(result).toMatchObject({ status: "ran" });
    await closed;
    expect(await (await openStore(path)).seen("a")).toBe(true);
  });

  it("that a half-read query prevents may be tried again", async () => {
    const store = await openStore();
    let rows: Iterator<unknown> | undefined;
    await errorOf(() =>
      store.transact(undefined, (tx) => {
        rows = tx.prepare("SELECT 1 UNION SELECT 2").iterate();
        rows.next();
      }),
    );
    expect((await errorOf(() => store.close())).message).toContain("busy executing a query");
    rows?.return?.();
    await store.close();
  });

  it("leaves a borrowed connection open", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    await store.close();
    expect(database.prepare("SELECT 1").pluck().get()).toBe(1);
  });

  it("is what `await using` calls", async () => {
    const store = await openStore();
    await store[Symbol.asyncDispose]();
    expect(await errorOf(() => store.seen("a"))).toMatchObject({ code: "BQ_STORE_CLOSED" });
  });

  it("of the borrowed connection by its owner is told as closed", async () => {
    const database = openDatabase(temporaryFile());
    const store = await borrow(database);
    database.close();
    expect(await errorOf(() => store.remember("a"))).toMatchObject({ code: "BQ_STORE_CLOSED" });
    await store.close();
  });
});
