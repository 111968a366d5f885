import { setTimeout as pause } from "node:timers/promises";
import { type RedisServer, startRedisCluster } from "@bq/idempotency-test-servers";
import { Failover } from "../faults/failover.ts";
import { withRedis } from "../faults/redis-commands.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** Three masters, each with a replica. Nodes tell clients their addresses, so there is no network to play in between. */
export async function startRedisClusterStore(): Promise<StoreUnderTest> {
  const cluster = await startRedisCluster({ replicas: true });
  const failover = new Failover(cluster);
  return {
    address: { kind: "redis-cluster", nodes: cluster.nodes },
    injure: {
      "store-failover": (lagMs) => failover.run(lagMs),
      async "store-cut"() {
        await Promise.all(failover.masters.map(disconnectClients));
        return undefined;
      },
      async "store-black-hole"(forMs) {
        // Shorter than the time after which the others would give it up.
        const [node] = failover.masters;
        await node?.pause();
        await pause(forMs);
        await node?.resume();
        return undefined;
      },
    },
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

async function disconnectClients(node: RedisServer): Promise<void> {
  await withRedis(node, (redis) => redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
}
