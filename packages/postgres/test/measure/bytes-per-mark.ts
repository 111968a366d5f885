// How much disk a mark takes, with its index. Run: node --conditions=@bq/source test/measure/bytes-per-mark.ts
import { randomUUID } from "node:crypto";
import { startPostgres } from "@bq/idempotency-test-servers";
import postgres from "postgres";
import { PostgresStore } from "../../src/index.ts";

const count = 100_000;
const batch = 1_000;

const ways: Record<string, (store: PostgresStore, ids: string[]) => Promise<unknown>> = {
  "remembered one by one": (store, ids) => Promise.all(ids.map((id) => store.remember(id))),
  "claimed, then committed": (store, ids) =>
    Promise.all(
      ids.map(async (id) => {
        const result = await store.claim(id, 60_000);
        if (result.status === "claimed") await store.commit(result.claim);
      }),
    ),
};

await using server = await startPostgres();
const sql = postgres(server.url, { max: 1, onnotice() {} });
for (const [way, write] of Object.entries(ways)) {
  const store = await PostgresStore.connect(server.url, { table: "measured", ttlMs: 86_400_000 });
  await store.migrate();
  for (let done = 0; done < count; done += batch)
    await write(store, Array.from({ length: batch }, randomUUID));
  const [row] = await sql`
    SELECT pg_table_size('measured')::float8 AS rows, pg_indexes_size('measured')::float8 AS index`;
  const { rows, index } = row as unknown as { rows: number; index: number };
  const perMark = (bytes: number) => Math.round(bytes / count);
  console.log(`${way}: ${perMark(rows + index)} bytes (${perMark(rows)} row, ${perMark(index)} index)`);
  await store.close();
  await sql`DROP TABLE measured`;
}
await sql.end();
