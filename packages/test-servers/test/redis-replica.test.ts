import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { startRedisReplicaSet } from "../src/index.ts";

vi.setConfig({ testTimeout: 120_000 });

test("after a failover the replica is the primary, with what the primary had acknowledged to have copied", async () => {
  await using set = await startRedisReplicaSet();
  const client = new Redis({ sentinels: set.sentinels, name: set.masterName });
  // It tells of every server and sentinel that it cannot reach meanwhile.
  client.on("error", () => {});
  await client.set("key", "before");
  expect(await client.wait(1, 0)).toBe(1);
  await set.failover();
  expect(await client.get("key")).toBe("before");
  expect(await client.set("key", "after")).toBe("OK");
  client.disconnect();
});
