import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { SqliteStore, type SqliteStoreOptions } from "../src/index.ts";
import { borrow, errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

describe("options", () => {
  it.each<[Record<string, unknown>, typeof TypeError | typeof RangeError, string]>([
    [{ ttlMs: 0 }, RangeError, "ttlMs"],
    [{ ttlMs: -1 }, RangeError, "ttlMs"],
    [{ ttlMs: Number.NaN }, RangeError, "ttlMs"],
    [{ ttlMs: Number.POSITIVE_INFINITY }, RangeError, "ttlMs"],
    [{ ttlMs: "7d" }, TypeError, '"7d"'],
    [{ busyTimeoutMs: -1 }, RangeError, "busyTimeoutMs"],
    [{ busyTimeoutMs: 2 ** 31 }, RangeError, "busyTimeoutMs"],
    [{ table: "" }, TypeError, "table"],
    [{ table: 'marks"; DROP TABLE orders; --' }, TypeError, "DROP TABLE"],
    [{ table: "app.marks" }, TypeError, "app.marks"],
    [{ table: "sqlite_marks" }, TypeError, "sqlite_marks"],
    [{ table: "SQLite_marks" }, TypeError, "SQLite_marks"],
    [{ table: "m".repeat(64) }, TypeError, "63"],
    [{ table: 7 }, TypeError, "7"],
    [{ ttl: 7 }, TypeError, '"ttl"'],
  ])("%j are refused", async (options, type, said) => {
    const path = temporaryFile();
    const database = openDatabase(path);
    expect(() => new SqliteStore(database, options as SqliteStoreOptions)).toThrow(type);
    const error = await errorOf(() => SqliteStore.connect(path, options as SqliteStoreOptions));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(said);
  });

  it("a table has its own marks", async () => {
    const path = temporaryFile();
    const [orders, mails] = [
      await openStore(path, { table: "seen_orders" }),
      await openStore(path, { table: "order" }),
    ];
    await orders.remember("a");
    expect([await orders.seen("a"), await mails.seen("a")]).toEqual([true, false]);
  });

  it("a mark expires after ttlMs, however it was written", async () => {
    const store = await openStore(temporaryFile(), { ttlMs: 300 });
    await store.remember("remembered");
    await store.rememberMany(["in a batch"]);
    const result = await store.claim("committed", 60_000);
    if (result.status !== "claimed") throw new Error("nobody else can hold it");
    await store.commit(result.claim);
    const startedAt = Date.now();
    await store.transact("transacted", () => undefined);
    const ids = ["remembered", "in a batch", "committed", "transacted"];
    let live = await store.seenMany(ids);
    while (live.some(Boolean) && Date.now() - startedAt < 30_000) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      live = await store.seenMany(ids);
    }
    expect(live).toEqual(ids.map(() => false));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(300);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "30s", undefined])(
    "a lease of %s is refused",
    async (lease) => {
      const store = await openStore();
      const leaseMs = lease as number;
      expect(() => store.claim("a", leaseMs)).toThrow(/leaseMs must be a whole number/);
      expect(() => store.renew({ id: "a", token: "t" }, leaseMs)).toThrow(/leaseMs must be a whole number/);
      expect(await store.claim("a", 1)).toMatchObject({ status: "claimed" });
    },
  );

  it("anything but a connection of better-sqlite3 is refused", async () => {
    const other = new DatabaseSync(":memory:");
    for (const database of [undefined, null, {}, "marks.db", other]) {
      expect(() => new SqliteStore(database as never)).toThrow("a Database of better-sqlite3 is needed");
    }
    other.close();
  });

  it.each(["", "  ", undefined, 7])("a path of %j is refused", async (path) => {
    expect(await errorOf(() => SqliteStore.connect(path as string))).toBeInstanceOf(TypeError);
  });
});

describe("an owner who prefers big integers", () => {
  it("gets the same answers as any other", async () => {
    const database = openDatabase(temporaryFile());
    database.defaultSafeIntegers(true);
    const store = await borrow(database, { ttlMs: 60_000 });
    const result = await store.claim("a", 60_000);
    if (result.status !== "claimed") throw new Error("nobody else can hold it");
    const parked = await store.claim("a", 60_000);
    expect(parked.status === "in-flight" && Number.isInteger(parked.retryAfterMs)).toBe(true);
    expect(await store.renew(result.claim, 60_000)).toBe(true);
    expect(await store.commit(result.claim)).toBe(true);
    expect(await store.seen("a")).toBe(true);
    expect(await store.purge()).toBe(0);
    // And still gets his own answers.
    expect(database.prepare("SELECT 1").pluck().get()).toBe(1n);
  });
});
