import { expect, it } from "vitest";
import { freshName, openStore, plainClient, sharedUrl } from "./support/database.ts";
import { until } from "./support/until.ts";
import { WorkerProcess } from "./support/worker-process.ts";

it("a claim of a killed worker parks the redelivery until the lease is over, and then it runs", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  const worker = new WorkerProcess("dying", [sharedUrl, table, "claim"]);
  expect(await worker.receive()).toBe("claimed");
  await worker.kill();
  expect(await store.claim("id", 60_000)).toMatchObject({ status: "in-flight" });
  expect(await store.seen("id")).toBe(false);
  await sql`UPDATE ${sql(table)} SET claimed_until = now()`;
  expect(await store.claim("id", 60_000)).toMatchObject({ status: "claimed" });
});

it("a transaction of a killed worker leaves neither effect nor mark, and the redelivery runs", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  const effects = sql(`${table}_effects`);
  await sql`CREATE TABLE ${effects} (effect TEXT)`;
  const worker = new WorkerProcess("dying", [sharedUrl, table, "transact"]);
  expect(await worker.receive()).toBe("written");
  await worker.kill();
  await until(
    async () => (await sql`SELECT FROM pg_stat_activity WHERE application_name = ${table}`).count === 0,
  );
  expect(await store.seen("id")).toBe(false);
  const result = await store.transact("id", (tx) => tx`INSERT INTO ${effects} VALUES ('redelivery')`);
  expect(result.status).toBe("ran");
  expect(await sql`SELECT effect FROM ${effects}`.values()).toEqual([["redelivery"]]);
});

it("a worker whose clock is a day ahead or behind neither shortens nor prolongs anything", async () => {
  const table = freshName();
  const store = await openStore({ table, ttlMs: 60_000 });
  await store.remember("ours");
  await store.claim("held", 60_000);
  for (const offset of ["+1d", "-1d"]) {
    const worker = new WorkerProcess("skewed", [sharedUrl, table, offset], fakeTime(offset));
    const report = await worker.receive<Record<string, unknown>>();
    expect(Math.abs((report.clock as number) - Date.now())).toBeGreaterThan(23 * 3_600_000);
    expect(report).toMatchObject({ seen: true, held: "in-flight", purged: 0, own: true, claimed: "claimed" });
    expect(await store.seen(`mark-${offset}`)).toBe(true);
    const parked = await store.claim(`claim-${offset}`, 1);
    expect(parked).toMatchObject({ status: "in-flight", retryAfterMs: expect.closeTo(60_000, -5) });
    expect(await store.seen(`brief-${offset}`)).toBe(false);
  }
  expect(await store.purge()).toBe(2);
  expect(await store.seen("ours")).toBe(true);
});

/** The environment of a process whose wall clock is off by this much. */
function fakeTime(offset: string): Record<string, string> {
  return {
    LD_PRELOAD: "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}
