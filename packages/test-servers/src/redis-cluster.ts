import { freePort } from "./free-port.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import { fields, withRedis } from "./redis-commands.ts";
import { until } from "./until.ts";

const SLOTS = 16_384;
const MASTERS = 3;

export interface RedisClusterOptions {
  /** A replica for each master. None takes over by itself: a test tells it to, by `CLUSTER FAILOVER TAKEOVER`. Default: false. */
  readonly replicas?: boolean;
}

/** A Redis Cluster of three masters. */
export interface RedisCluster extends AsyncDisposable {
  /** Where the masters listen, in the form that ioredis's `Cluster` takes. */
  readonly nodes: { host: string; port: number }[];
  /** `restart()` resolves when the cluster takes commands for every slot again. */
  readonly masters: RedisServer[];
  /** The replica of each master, in the same order; empty without the option `replicas`. */
  readonly replicas: RedisServer[];
  stop(): Promise<void>;
}

/** Starts a cluster and waits until every node knows all slots. @throws Error when there is no Redis to be had. */
export async function startRedisCluster({
  replicas: wanted = false,
}: RedisClusterOptions = {}): Promise<RedisCluster> {
  const masters: RedisServer[] = [];
  const replicas: RedisServer[] = [];
  const stop = async () => {
    await Promise.all([...masters, ...replicas].map((node) => node.stop()));
  };
  try {
    for (let index = 0; index < MASTERS; index += 1) {
      masters.push(await startNode());
      if (wanted) replicas.push(await startNode());
    }
    await join(masters, replicas);
  } catch (error) {
    await stop();
    throw error;
  }
  const nodes = masters.map(({ host, port }) => ({ host, port }));
  const all = [...masters, ...replicas];
  const rejoining = masters.map((master) => ({ ...master, restart: () => rejoin(master, all) }));
  return { nodes, masters: rejoining, replicas, stop, [Symbol.asyncDispose]: stop };
}

async function startNode(): Promise<RedisServer> {
  // The bus port would be the port plus 10 000, which another server may hold.
  const busPort = await freePort();
  const bus = ["--cluster-port", String(busPort), "--cluster-node-timeout", "5000"];
  // By default a master waits five seconds for further replicas before it sends its data.
  const replication = ["--repl-diskless-sync-delay", "0", "--cluster-replica-no-failover", "yes"];
  return startRedis({ args: ["--cluster-enabled", "yes", ...bus, ...replication] });
}

async function join(masters: readonly RedisServer[], replicas: readonly RedisServer[]): Promise<void> {
  for (const [index, master] of masters.entries()) {
    const first = Math.ceil((SLOTS * index) / masters.length);
    const last = Math.ceil((SLOTS * (index + 1)) / masters.length) - 1;
    await withRedis(master, async (command) => {
      await command("CLUSTER", "ADDSLOTSRANGE", first, last);
      // Different epochs from the start spare the nodes the settling of a conflict.
      await command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
    });
  }
  const all = [...masters, ...replicas];
  const [first, ...others] = all;
  if (first === undefined) return;
  for (const other of others) {
    const busPort = await withRedis(other, (command) => command("CONFIG", "GET", "cluster-port"));
    await withRedis(first, (command) =>
      command("CLUSTER", "MEET", other.host, other.port, String(busPort).split(",")[1] ?? ""),
    );
  }
  await complete(all);
  for (const [index, replica] of replicas.entries()) await replicate(replica, masters[index] ?? first);
}

async function replicate(replica: RedisServer, master: RedisServer): Promise<void> {
  const id = String(await withRedis(master, (command) => command("CLUSTER", "MYID")));
  await withRedis(replica, (command) => command("CLUSTER", "REPLICATE", id));
  await until(`${replica.url} is in step with its master`, () =>
    withRedis(
      replica,
      async (command) => fields(await command("INFO", "replication")).master_link_status === "up",
    ),
  );
}

async function rejoin(master: RedisServer, all: readonly RedisServer[]): Promise<void> {
  await master.restart();
  await complete(all);
}

async function complete(all: readonly RedisServer[]): Promise<void> {
  for (const node of all)
    await until(`${node.url} knows the whole cluster`, () => knowsAll(node, all.length));
}

function knowsAll(node: RedisServer, count: number): Promise<boolean> {
  return withRedis(node, async (command) => {
    const info = fields(await command("CLUSTER", "INFO"));
    if (info.cluster_state !== "ok") return false;
    if (info.cluster_known_nodes !== String(count) || info.cluster_size !== String(MASTERS)) return false;
    // A node that just missed a master counts its slots as failing before it says so of the cluster.
    return info.cluster_slots_ok === String(SLOTS);
  });
}
