import { Redis } from "ioredis";
import postgres from "postgres";
import { afterEach, expect, inject, test, vi } from "vitest";
import { postgresForTests, redisForTests } from "../src/index.ts";

vi.setConfig({ testTimeout: 60_000 });

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a Redis server given by BQ_TEST_REDIS_URL is used, and outlives the tests", async () => {
  vi.stubEnv("BQ_TEST_REDIS_URL", inject("redisUrl"));
  const server = await redisForTests();
  expect(server.url).toBe(inject("redisUrl"));
  await server.stop();
  const client = new Redis(inject("redisUrl"));
  expect(await client.ping()).toBe("PONG");
  client.disconnect();
});

test("without BQ_TEST_REDIS_URL a Redis server is started", async () => {
  vi.stubEnv("BQ_TEST_REDIS_URL", "");
  await using server = await redisForTests();
  expect(server.url).not.toBe(inject("redisUrl"));
});

test("on a server given by BQ_TEST_POSTGRES_URL databases are made, and dropped again even with a connection open", async () => {
  vi.stubEnv("BQ_TEST_POSTGRES_URL", inject("postgresUrl"));
  const server = await postgresForTests();
  const url = await server.createDatabase();
  const forgotten = postgres(url, { max: 1 });
  await forgotten`CREATE TABLE marks ()`;
  await server.stop();
  const sql = postgres(inject("postgresUrl"), { max: 1 });
  const name = new URL(url).pathname.slice(1);
  expect(await sql`SELECT FROM pg_database WHERE datname = ${name}`).toHaveLength(0);
  await Promise.all([sql.end(), forgotten.end({ timeout: 0 })]);
});

test("without BQ_TEST_POSTGRES_URL a Postgres server is started", async () => {
  vi.stubEnv("BQ_TEST_POSTGRES_URL", "");
  await using server = await postgresForTests();
  expect(new URL(server.url).port).not.toBe(new URL(inject("postgresUrl")).port);
});
