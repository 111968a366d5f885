import { freePort } from "./free-port.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import { fields, withRedis } from "./redis-commands.ts";
import { until } from "./until.ts";

const SLOTS = 16_384;
const MASTERS = 3;

/** A Redis Cluster of three masters. */
export interface RedisCluster extends AsyncDisposable {
  /** Where the masters listen, in the form that ioredis's `Cluster` takes. */
  readonly nodes: { host: string; port: number }[];
  /** `restart()` resolves when the cluster takes commands for every slot again. */
  readonly masters: RedisServer[];
  stop(): Promise<void>;
}

/** Starts a cluster and waits until every master knows all slots. @throws Error when there is no Redis to be had. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const masters: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(masters.map((master) => master.stop()));
  };
  try {
    for (let index = 0; index < MASTERS; index += 1) masters.push(await startMaster());
    await join(masters);
  } catch (error) {
    await stop();
    throw error;
  }
  const nodes = masters.map(({ host, port }) => ({ host, port }));
  const rejoining = masters.map((master) => ({ ...master, restart: () => rejoin(master, masters) }));
  return { nodes, masters: rejoining, stop, [Symbol.asyncDispose]: stop };
}

async function startMaster(): Promise<RedisServer> {
  // The bus port would be the port plus 10 000, which another server may hold.
  const busPort = await freePort();
  const bus = ["--cluster-port", String(busPort), "--cluster-node-timeout", "5000"];
  return startRedis({ args: ["--cluster-enabled", "yes", ...bus] });
}

async function join(masters: readonly RedisServer[]): Promise<void> {
  const busPorts = new Map<RedisServer, string>();
  for (const [index, master] of masters.entries()) {
    const first = Math.ceil((SLOTS * index) / masters.length);
    const last = Math.ceil((SLOTS * (index + 1)) / masters.length) - 1;
    await withRedis(master, async (command) => {
      await command("CLUSTER", "ADDSLOTSRANGE", first, last);
      // Different epochs from the start spare the nodes the settling of a conflict.
      await command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
      busPorts.set(master, String(await command("CONFIG", "GET", "cluster-port")).split(",")[1] ?? "");
    });
  }
  const [first, ...others] = masters;
  if (first === undefined) return;
  await withRedis(first, async (command) => {
    for (const other of others)
      await command("CLUSTER", "MEET", other.host, other.port, busPorts.get(other) ?? "");
  });
  await complete(masters);
}

async function rejoin(master: RedisServer, masters: readonly RedisServer[]): Promise<void> {
  await master.restart();
  await complete(masters);
}

async function complete(masters: readonly RedisServer[]): Promise<void> {
  for (const master of masters) {
    await until(`${master.url} knows the whole cluster`, () => knowsAll(master, masters.length));
  }
}

function knowsAll(master: RedisServer, count: number): Promise<boolean> {
  return withRedis(master, async (command) => {
    const info = fields(await command("CLUSTER", "INFO"));
    const size = String(count);
    if (info.cluster_state !== "ok" || info.cluster_known_nodes !== size || info.cluster_size !== size)
      return false;
    // A node that just missed a master counts its slots as failing before it says so of the cluster.
    return info.cluster_slots_ok === String(SLOTS);
  });
}
