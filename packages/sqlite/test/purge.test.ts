import { existsSync, statSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import type { SqliteStore } from "../src/index.ts";
import { errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

const past = Date.now() - 1_000;
const future = Date.now() + 3_600_000;

function fill(database: Sqlite.Database, prefix: string, count: number, expiresAt: number | null): void {
  const insert = database.prepare("INSERT INTO babelqueue_idempotency VALUES (?, 1, ?, NULL, NULL)");
  database.transaction(() => {
    for (let number = 0; number < count; number++) insert.run(`${number}-${prefix}`, expiresAt);
  })();
}

const rows = (database: Sqlite.Database): unknown =>
  database.prepare("SELECT count(*) FROM babelqueue_idempotency").pluck().get();

describe("purge", () => {
  it("deletes expired marks and lapsed claims, tells how many, and leaves everything else", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const database = openDatabase(path);
    fill(database, "expired", 250, past);
    fill(database, "live", 100, future);
    fill(database, "for-ever", 100, null);
    await store.claim("held", 60_000);
    await store.claim("lapsed", 60_000);
    database.exec("UPDATE babelqueue_idempotency SET claimed_until = 1 WHERE message_id = 'lapsed'");

    expect(await store.purge({ batchSize: 7 })).toBe(251);
    expect(rows(database)).toBe(201);
    expect(await store.claim("held", 1_000)).toMatchObject({ status: "in-flight" });
    expect(await store.seenMany(["3-live", "3-for-ever", "3-expired"])).toEqual([true, true, false]);
    expect(await store.purge()).toBe(0);
  });

  it("lets the event loop and other writers in between its batches", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const database = openDatabase(path);
    fill(database, "expired", 500, past);
    const left: unknown[] = [];
    const purging = store.purge({ batchSize: 50 });
    const watching = setInterval(() => {
      database
        .prepare("INSERT INTO babelqueue_idempotency VALUES (?, 1, NULL, NULL, NULL)")
        .run(`${left.length}`);
      left.push(rows(database));
    }, 1);
    expect(await purging).toBe(500);
    clearInterval(watching);
    expect(new Set(left).size).toBeGreaterThan(3);
  });

  it("beside workers at full speed loses no live mark, and nobody fails", async () => {
    const path = temporaryFile();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(path, { ttlMs: 3_600_000 })));
    fill(openDatabase(path), "expired", 3_000, past);
    let purging = true;

    const work = async (store: SqliteStore, name: number): Promise<string[]> => {
      const marked: string[] = [];
      for (let count = 0; purging || count < 20; count++) {
        const expired = `${count}-expired`;
        const result = await store.claim(expired, 60_000);
        if (result.status === "claimed") {
          expect(await store.commit(result.claim)).toBe(true);
          marked.push(expired);
        }
        await store.remember(`${name}-${count}`);
        marked.push(`${name}-${count}`);
        await new Promise(setImmediate);
      }
      return marked;
    };
    const working = Promise.all(stores.map(work));
    const purger = await openStore(path);
    for (let rounds = 0; rounds < 3; rounds++) await purger.purge({ batchSize: 100 });
    purging = false;
    const marked = (await working).flat();
    expect(await purger.seenMany(marked)).toEqual(marked.map(() => true));
  });

  it("waits for a lock as every operation does", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const other = openDatabase(path);
    fill(other, "expired", 10, past);
    other.exec("BEGIN IMMEDIATE");
    const purging = store.purge();
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.exec("COMMIT");
    expect(await purging).toBe(10);
  });

  it("empties the write-ahead log after a large one", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    fill(openDatabase(path), "expired", 20_000, past);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    expect(await store.purge({ batchSize: 10_000 })).toBe(20_000);
    expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size).toBe(0);
  });

  it("stops at a close, and says that it did", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    fill(openDatabase(path), "expired", 1_000, past);
    const purging = errorOf(() => store.purge({ batchSize: 10 }));
    await store.close();
    expect(await purging).toMatchObject({ code: "BQ_STORE_CLOSED" });
  });

  it.each([0, -1, 1.5, Number.NaN, 100_001])("refuses a batchSize of %d", async (batchSize) => {
    const store = await openStore();
    expect(await errorOf(() => store.purge({ batchSize }))).toBeInstanceOf(RangeError);
    expect(() => store.purgeEvery(1_000, { batchSize })).toThrow(RangeError);
  });
});

describe("purgeEvery", () => {
  it("purges until it is stopped", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const database = openDatabase(path);
    const stop = store.purgeEvery(1);
    for (let round = 0; round < 2; round++) {
      fill(database, `round-${round}`, 5, past);
      await vi.waitFor(() => expect(rows(database)).toBe(0), { timeout: 10_000 });
    }
    stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    fill(database, "late", 5, past);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rows(database)).toBe(5);
  });

  it("tells onError of a failure and goes on, whatever onError does", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const database = openDatabase(path);
    database.exec("ALTER TABLE babelqueue_idempotency RENAME TO elsewhere");
    const errors: unknown[] = [];
    const stop = store.purgeEvery(1, {
      onError: (error) => {
        errors.push(error);
        throw error;
      },
    });
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(2), { timeout: 10_000 });
    stop();
    expect(errors[0]).toMatchObject({ name: "StoreError" });
  });

  it("stops when the store is closed, without an error", async () => {
    const store = await openStore();
    const onError = vi.fn();
    store.purgeEvery(1, { onError });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await store.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(onError).not.toHaveBeenCalled();
  });

  it.each([0, -5, Number.POSITIVE_INFINITY, 2 ** 31, "1h"])(
    "refuses an interval of %s",
    async (intervalMs) => {
      const store = await openStore();
      expect(() => store.purgeEvery(intervalMs as number)).toThrow(/intervalMs must be a whole number/);
    },
  );
});
