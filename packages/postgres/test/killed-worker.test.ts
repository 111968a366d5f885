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
