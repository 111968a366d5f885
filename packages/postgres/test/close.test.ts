import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";

it("close waits for the marks that are under way, and refuses what comes later", async () => {
  const table = freshName();
  const store = await openStore({ table, maxConnections: 1 });
  const marks = Array.from({ length: 50 }, (_, number) => store.remember(`id-${number}`));
  const work = store.transact("transacted", async (tx) => {
    await tx`SELECT pg_sleep(0.1)`;
  });
  await store.close();
  await Promise.all(marks);
  expect(await work).toMatchObject({ status: "ran" });
  await expect(store.remember("late")).rejects.toMatchObject({ code: "BQ_STORE_CLOSED" });
  expect(() => store.purgeEvery(1_000)).toThrow(expect.objectContaining({ code: "BQ_STORE_CLOSED" }));
  const other = await openStore({ table });
  expect(await other.seenMany(["id-0", "id-49", "transacted", "late"])).toEqual([true, true, true, false]);
});

it("close may be called twice and ends a client of its own", async () => {
  const applicationName = freshName();
  const sql = plainClient();
  const store = await openStore({ applicationName });
  await Promise.all([store.close(), store.close()]);
  await store.close();
  expect((await sql`SELECT FROM pg_stat_activity WHERE application_name = ${applicationName}`).count).toBe(0);
});

it("close leaves a borrowed client open", async () => {
  const sql = plainClient();
  const store = new PostgresStore(sql, { table: freshName() });
  await store.migrate();
  await store[Symbol.asyncDispose]();
  expect(await sql`SELECT 1`.values()).toEqual([[1]]);
});
