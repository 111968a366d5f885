import { expect, it } from "vitest";
import { openStore, plainClient } from "./support/database.ts";
import { until } from "./support/until.ts";

it("a store whose only connection was terminated during a transaction's statement answers the next call", async () => {
  const store = await openStore({ maxConnections: 1 });
  const admin = plainClient();
  const interrupted = store.transact("id", async (tx) => {
    const [row] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
    const asleep = tx`SELECT pg_sleep(60)`.execute();
    await until(async () => {
      const sleeping =
        await admin`SELECT FROM pg_stat_activity WHERE pid = ${row.pid} AND wait_event = 'PgSleep'`;
      return sleeping.count === 1;
    });
    await admin`SELECT pg_terminate_backend(${row.pid})`;
    await asleep;
  });
  await expect(interrupted).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
  expect(await store.seen("id")).toBe(false);
  await store.remember("id");
  expect(await store.seen("id")).toBe(true);
});
