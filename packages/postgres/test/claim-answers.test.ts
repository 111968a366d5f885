import { expect, it } from "vitest";
import { freshName, openStore, ownProxy, plainClient } from "./support/database.ts";
import { until } from "./support/until.ts";

/** How many statements on the table are waiting for a lock. */
async function waiting(sql: ReturnType<typeof plainClient>, table: string): Promise<number> {
  const found = await sql`
    SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE ${`%${table}%`}`;
  return found.count;
}

it("a claim that waited for a mark which then committed answers processed", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  const { claim } = await sql.begin(async (tx) => {
    await store.within(tx).remember("id");
    const pending = store.claim("id", 60_000);
    await until(async () => (await waiting(sql, table)) === 1);
    return { claim: pending.then((answer) => [answer]) };
  });
  expect(await claim).toEqual([{ status: "processed" }]);
});

it("a claim that waited for a mark which was then rolled back wins", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  let claim: Promise<unknown> | undefined;
  const rolledBack = sql.begin(async (tx) => {
    await store.within(tx).remember("id");
    claim = store.claim("id", 60_000);
    await until(async () => (await waiting(sql, table)) === 1);
    throw new Error("roll back");
  });
  await expect(rolledBack).rejects.toThrow("roll back");
  expect(await claim).toMatchObject({ status: "claimed" });
});

it("a claim on a marked or held id takes no lock and writes nothing", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  await store.remember("marked");
  await store.claim("held", 60_000);
  const versions = () =>
    sql`SELECT message_id, xmin::text, xmax::text, ctid::text FROM ${sql(table)} ORDER BY 1`;
  const before = await versions();
  expect(await store.claim("marked", 60_000)).toEqual({ status: "processed" });
  expect(await store.claim("held", 60_000)).toMatchObject({ status: "in-flight" });
  expect(await versions()).toEqual(before);
});

it("a claim whose answer was lost on the way is given back, so that the next one gets it", async () => {
  const table = freshName();
  const proxy = await ownProxy();
  const store = await openStore({ url: proxy.url, table, maxConnections: 1 });
  const other = await openStore({ table });
  await store.seen("id");
  // The statement is prepared first, so that what is lost below is the answer to its execution.
  await store.claim("another", 60_000);
  const cut = proxy.cutBeforeReply();
  await expect(store.claim("id", 600_000)).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
  await cut;
  await until(async () => (await other.claim("id", 60_000)).status === "claimed");
});

it("renewals change no index, so that the server can keep them on their page", async () => {
  const table = freshName();
  const store = await openStore({ table, ttlMs: 3_600_000 });
  const sql = plainClient();
  const claimed = await store.claim("id", 60_000);
  if (claimed.status !== "claimed") throw new Error("The id was free.");
  for (let turn = 0; turn < 20; turn++) await store.renew(claimed.claim, 60_000);
  await store.commit(claimed.claim);
  await store.close();
  await until(async () => {
    const [row] = await sql`
      SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot
      FROM pg_stat_user_tables
      WHERE relname = ${table}`;
    return row?.updates === 21 && row.hot === 21;
  });
});
