import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from "@bq/idempotency-test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const page = "docs/start.md";

describe("the five-minute start", () => {
  const project = new DocsProject([page]);
  let redis: RedisServer;
  let postgres: PostgresServer;

  beforeAll(async () => {
    [redis, postgres] = await Promise.all([startRedis({ args: ["--appendonly", "yes"] }), startPostgres()]);
  }, 120_000);

  afterAll(async () => {
    project[Symbol.dispose]();
    await Promise.all([redis.stop(), postgres.stop()]);
  });

  const run = (program: string) =>
    project.run(page, [program], { REDIS_URL: redis.url, POSTGRES_URL: postgres.url });

  it.each([
    { program: "memory.mts", again: "charged order 1042\n" },
    { program: "sqlite.mts", again: "" },
    { program: "redis.mts", again: "" },
    { program: "postgres.mts", again: "" },
  ])(
    "$program charges once for two deliveries, and prints what the page says when it runs again",
    ({ program, again }) => {
      expect(run(program)).toBe("charged order 1042\n");
      expect(run(program)).toBe(again);
    },
    60_000,
  );
});
