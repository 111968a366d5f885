import { Redis } from "ioredis";
import postgres from "postgres";
import { expect, inject, test } from "vitest";

test("the global set-up for Redis hands over the URL of a server that answers", async () => {
  const redis = new Redis(inject("redisUrl"));
  expect(await redis.ping()).toBe("PONG");
  await redis.quit();
});

test("the global set-up for Postgres hands over the URL of an empty database of the run", async () => {
  const sql = postgres(inject("postgresUrl"));
  expect(await sql`SELECT current_database() LIKE 'bq_test_%' AS fresh`).toEqual([{ fresh: true }]);
  expect(await sql`SELECT FROM pg_tables WHERE schemaname = 'public'`).toHaveLength(0);
  await sql.end();
});
