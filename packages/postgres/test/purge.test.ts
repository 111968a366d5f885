import { describe, expect, it, onTestFinished, vi } from "vitest";
import { freshName, openStore, plainClient, sharedUrl } from "./support/database.ts";
import { until } from "./support/until.ts";
import { WorkerProcess } from "./support/worker-process.ts";

const names = (count: number, prefix = "id") =>
  Array.from({ length: count }, (_, place) => `${prefix}-${place}`);

describe("purge", () => {
  it("deletes what expired or lapsed, in batches, counts it, and leaves the rest", async () => {
    const table = freshName();
    const sql = plainClient();
    const forever = await openStore({ table });
    const brief = await openStore({ table, ttlMs: 1 });
    await brief.rememberMany(names(2_500));
    await brief.claim("lapsed", 1);
    await forever.rememberMany(names(10, "kept"));
    await forever.claim("held", 60_000);
    await until(async () => !(await brief.seen("id-0")));
    await until(async () => (await forever.claim("lapsed", 1)).status === "claimed");
    await until(async () => (await sql`SELECT FROM ${sql(table)} WHERE claimed_until < now()`).count > 0);
    expect(await forever.purge({ batchSize: 7 })).toBe(2_501);
    expect(await forever.purge()).toBe(0);
    expect(await forever.seenMany(names(10, "kept"))).toEqual(names(10).map(() => true));
    expect(await forever.claim("held", 1)).toMatchObject({ status: "in-flight" });
  });

  it("passes over a row that a transaction holds, and waits for nobody", async () => {
    const table = freshName();
    const sql = plainClient();
    const store = await openStore({ table, ttlMs: 1 });
    await store.rememberMany(["held", "free"]);
    await until(async () => !(await store.seen("free")) && !(await store.seen("held")));
    await sql.begin(async (tx) => {
      await tx`SELECT FROM ${tx(table)} WHERE message_id = 'held' FOR UPDATE`;
      expect(await store.purge({ batchSize: 1 })).toBe(1);
    });
    expect(await store.purge()).toBe(1);
  });

  it("beside 8 workers at full speed there is no deadlock, and no live mark is lost", async () => {
    const table = freshName();
    await openStore({ table });
    const purger = await openStore({ table, retries: 0 });
    const workers = Array.from(
      { length: 8 },
      (_, name) => new WorkerProcess("all-calls", [sharedUrl, table, String(name)]),
    );
    for (const worker of workers) expect(await worker.receive()).toBe("ready");
    const rounds = 30;
    for (const worker of workers) worker.send(rounds);
    const done = Promise.all(
      workers.map((worker) => worker.receive<{ failures: string[]; marks: string[] }>()),
    );
    let running = true;
    let deleted = 0;
    done.finally(() => {
      running = false;
    });
    while (running) deleted += await purger.purge({ batchSize: 20 });
    const reports = await done;
    expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
    expect(deleted).toBeGreaterThan(0);
    const marks = reports.flatMap(({ marks }) => marks);
    expect(marks).toHaveLength(8 * rounds);
    expect((await purger.seenMany(marks)).filter((seen) => !seen)).toEqual([]);
  });

  it.each([[{ batchSize: 0 }], [{ batchSize: 1.5 }], [{ batch: 1 }]])("refuses %j", async (options) => {
    const store = await openStore();
    await expect(store.purge(options as never)).rejects.toThrow(/batch/);
  });
});

describe("purgeEvery", () => {
  it("purges again and again, and tells how much, until it is stopped", async () => {
    const store = await openStore({ ttlMs: 1 });
    const deleted: number[] = [];
    const stop = store.purgeEvery(5, { batchSize: 10, onPurge: (count) => deleted.push(count) });
    await store.rememberMany(names(30));
    await until(() => deleted.reduce((sum, count) => sum + count, 0) === 30);
    stop();
    await store.rememberMany(names(3));
    const after = deleted.length;
    await until(async () => !(await store.seen("id-0")));
    expect(await store.purge()).toBe(3);
    expect(deleted.length).toBeLessThanOrEqual(after + 1);
  });

  it("a purge that fails is told, and the next one is made all the same", async () => {
    const table = freshName();
    const sql = plainClient();
    const store = await openStore({ table });
    await sql`DROP TABLE ${sql(table)}`;
    const errors: unknown[] = [];
    const counts: number[] = [];
    store.purgeEvery(5, {
      onPurge: (count) => counts.push(count),
      onError: (error) => {
        errors.push(error);
        throw new Error("not even this stops it");
      },
    });
    await until(() => errors.length >= 2);
    await store.migrate();
    await until(() => counts.length >= 1);
    expect(errors[0]).toMatchObject({ code: "BQ_STORE_SCHEMA" });
  });

  it("without a listener a failure is a process warning", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const table = freshName();
    const sql = plainClient();
    const store = await openStore({ table });
    await sql`DROP TABLE ${sql(table)}`;
    const stop = store.purgeEvery(5);
    await until(() => warn.mock.calls.length > 0);
    stop();
    expect(String(warn.mock.calls[0]?.[0])).toMatch(/scheduled purge failed/);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])("refuses the interval %d", async (intervalMs) => {
    const store = await openStore();
    expect(() => store.purgeEvery(intervalMs)).toThrow(/intervalMs/);
  });

  it("does not keep the process alive", async () => {
    const worker = new WorkerProcess("scheduled-purge", [sharedUrl, freshName()]);
    expect(await worker.receive()).toBe("scheduled");
    await worker.ended();
  });
});
