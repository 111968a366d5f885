import { Cluster, Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { startRedisCluster } from "../src/index.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a cluster of three masters takes keys of every master, also after one of them was restarted", async () => {
  await using cluster = await startRedisCluster();
  let client = new Cluster(cluster.nodes);
  // One key per range of slots.
  const keys = ["a", "b", "c", "d", "e", "f"];
  for (const key of keys) expect(await client.set(key, key)).toBe("OK");
  const sizes = await Promise.all(client.nodes("master").map((node) => node.dbsize()));
  expect(sizes).toHaveLength(3);
  expect(sizes.every((size) => size > 0)).toBe(true);
  client.disconnect();

  await cluster.masters[0]?.restart();
  client = new Cluster(cluster.nodes);
  for (const key of keys) expect(await client.set(key, key)).toBe("OK");
  client.disconnect();
});

test("a replica of the cluster has the data of its master, and takes its place when it is told to", async () => {
  await using cluster = await startRedisCluster({ replicas: true });
  const client = new Cluster(cluster.nodes);
  const keys = ["a", "b", "c", "d", "e", "f"];
  for (const key of keys) await client.set(key, key);
  for (const master of client.nodes("master")) expect(await master.wait(1, 10_000)).toBe(1);
  await cluster.masters[1]?.kill();
  const { host = "", port = 0 } = cluster.replicas[1] ?? {};
  const replica = new Redis({ host, port });
  await replica.cluster("FAILOVER", "TAKEOVER");
  for (const key of keys) expect(await client.get(key)).toBe(key);
  replica.disconnect();
  client.disconnect();
});
