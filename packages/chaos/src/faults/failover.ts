import { setTimeout as pause } from "node:timers/promises";
import type { RedisCluster, RedisServer } from "@bq/idempotency-test-servers";
import type { Redis } from "ioredis";
import { nowMs } from "../clock.ts";
import { keyPrefix } from "../stores/key.ts";
import type { Takeover } from "./fault-log.ts";
import { withRedis } from "./redis-commands.ts";

/** Which of the masters fails. */
const failing = 1;
const pollMs = 20;

/** The failover of one master of a cluster to a replica that lags behind. */
export class Failover {
  readonly #cluster: RedisCluster;
  #done = false;

  constructor(cluster: RedisCluster) {
    this.#cluster = cluster;
  }

  /** The nodes that take commands now. */
  get masters(): RedisServer[] {
    const { masters, replicas } = this.#cluster;
    return masters.flatMap((master, index) =>
      this.#done && index === failing ? (replicas[index] ?? []) : master,
    );
  }

  /** Cuts the replica off for so long, kills the master, and has the replica take over. */
  async run(lagMs: number): Promise<Takeover | undefined> {
    const master = this.#cluster.masters[failing];
    const replica = this.#cluster.replicas[failing];
    if (master === undefined || replica === undefined || this.#done) return undefined;
    const slots = await withRedis(master, slotsOf);
    return withRedis(replica, async (redis) => {
      await fallBehind(redis);
      await pause(lagMs);
      await master.kill();
      // Until the takeover the replica takes no writes: what it does not know now is lost.
      const known = await readState(redis);
      const atMs = nowMs();
      await redis.cluster("FAILOVER", "TAKEOVER");
      this.#done = true;
      while (!/role:master/.test(await redis.info("replication"))) await pause(pollMs);
      return { atMs, slots, ...known };
    });
  }
}

/** With a password that the master refuses, the replica cannot come back to it. */
async function fallBehind(replica: Redis): Promise<void> {
  await replica.config("SET", "masterauth", "refused");
  await replica.call("CLIENT", "KILL", "TYPE", "master");
  while (!/master_link_status:down/.test(await replica.info("replication"))) await pause(pollMs);
}

async function slotsOf(master: Redis): Promise<[number, number]> {
  const id = await master.cluster("MYID");
  const own = (await master.cluster("SLOTS")).find(([, , node]) => node?.[2] === id);
  if (own === undefined) throw new Error("The master that is to fail holds no slots.");
  return [own[0], own[1]];
}

async function readState(replica: Redis): Promise<{ marks: Set<string>; claims: Set<string> }> {
  await replica.call("READONLY");
  const marks = new Set<string>();
  const claims = new Set<string>();
  for (const key of await replica.keys(`${keyPrefix}*`)) {
    const value = await replica.get(key);
    (value === "1" ? marks : claims).add(key.slice(keyPrefix.length));
  }
  return { marks, claims };
}
