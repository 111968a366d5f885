import { type RedisForTests, redisForTests } from "@bq/idempotency-test-servers";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { runContract } from "../src/runtimes/run-contract.ts";
import { runtimes } from "../src/runtimes/runtime.ts";

let redis: RedisForTests;
beforeAll(async () => {
  redis = await redisForTests();
}, 120_000);
afterAll(() => redis?.stop());

// The oldest and the newest, in memory and on Redis: what can be had within seconds. All of it: pnpm runtimes.
const ends = runtimes.filter(({ name }) => name === "Node 20" || name === "Node 26");

describe.concurrent("the packed packages keep the contract", { timeout: 300_000 }, () => {
  it.for(ends)("on $name", async (runtime) => {
    const surroundings = {
      folder: inject("folder"),
      registryUrl: inject("registryUrl"),
      redisUrl: redis.url,
      postgresUrl: "",
    };
    const { version, passed, failed, output } = await runContract(runtime, ["memory", "redis"], surroundings);
    expect(`Node ${version.slice(1)}`).toMatch(runtime.name);
    expect(failed, output).toBe(0);
    expect(passed).toBeGreaterThan(200);
  });
});
