import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onFreePort } from "./free-port.ts";
import { type RedisServer, startRedis, startRedisProcess } from "./redis.ts";
import { fields, withRedis } from "./redis-commands.ts";
import { until } from "./until.ts";

const MASTER_NAME = "bq-primary";
const SENTINELS = 3;

/** A primary with one replica, watched by three sentinels. */
export interface RedisReplicaSet extends AsyncDisposable {
  /**
   * The primary at the start. `failover()` kills it; after `restart()` it takes writes as a primary until the sentinels
   * have made a replica of it, which is about twenty seconds later.
   */
  readonly primary: RedisServer;
  /** The replica at the start; the primary after `failover()`. */
  readonly replica: RedisServer;
  /** In the form that ioredis takes as `sentinels`. */
  readonly sentinels: { host: string; port: number }[];
  /** What ioredis takes as `name`. */
  readonly masterName: string;
  /** Kills the primary; resolves when all sentinels name the replica as the primary, and it takes writes. Works once. */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the set and waits until it could fail over. @throws Error when there is no Redis to be had. */
export async function startRedisReplicaSet(): Promise<RedisReplicaSet> {
  const started: RedisServer[] = [];
  const keep = async (starting: Promise<RedisServer>) => {
    const server = await starting;
    started.push(server);
    return server;
  };
  const stop = async () => {
    // The sentinels first: they would see a failure in what is only the end.
    for (const server of [...started].reverse()) await server.stop();
  };
  try {
    // By default a primary waits five seconds for further replicas before it sends its data.
    const primary = await keep(startRedis({ args: ["--repl-diskless-sync-delay", "0"] }));
    const replica = await keep(startRedis({ args: ["--replicaof", primary.host, String(primary.port)] }));
    await until("the replica is in step with the primary", () => inStep(replica));
    const sentinels: RedisServer[] = [];
    for (let index = 0; index < SENTINELS; index += 1) sentinels.push(await keep(startSentinel(primary)));
    for (const sentinel of sentinels) await until("the sentinels know all", () => knowsAll(sentinel));
    return {
      primary,
      replica,
      sentinels: sentinels.map(({ host, port }) => ({ host, port })),
      masterName: MASTER_NAME,
      failover: () => failover(primary, replica, sentinels),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startSentinel(primary: RedisServer): Promise<RedisServer> {
  // Long, so that on a slow machine the sentinels do not act on their own; `failover()` tells them to.
  const downAfterMs = 20_000;
  const lines = [
    `sentinel monitor ${MASTER_NAME} ${primary.host} ${primary.port} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${MASTER_NAME} 10000`,
  ];
  const configure = async (folder: string) => {
    // A sentinel keeps its state in its configuration file.
    const file = join(folder, "sentinel.conf");
    await writeFile(file, `${lines.join("\n")}\n`);
    return [file, "--sentinel"];
  };
  return onFreePort((port) => startRedisProcess(port, configure, "\\+monitor master"));
}

function inStep(replica: RedisServer): Promise<boolean> {
  return withRedis(replica, async (command) => {
    return fields(await command("INFO", "replication")).master_link_status === "up";
  });
}

function knowsAll(sentinel: RedisServer): Promise<boolean> {
  return withRedis(sentinel, async (command) => {
    const state = flat(await command("SENTINEL", "MASTER", MASTER_NAME));
    return state["num-slaves"] === "1" && state["num-other-sentinels"] === String(SENTINELS - 1);
  });
}

async function failover(
  primary: RedisServer,
  replica: RedisServer,
  sentinels: readonly RedisServer[],
): Promise<void> {
  const [first] = sentinels;
  if (first === undefined) return;
  await primary.kill();
  await until("a sentinel begins the failover", () => beginFailover(first));
  for (const sentinel of sentinels) {
    await until("the sentinels name the replica as the primary", () => names(sentinel, replica));
  }
  await until("the replica is the primary", () =>
    withRedis(replica, async (command) => fields(await command("INFO", "replication")).role === "master"),
  );
}

/** A sentinel refuses as long as it has not yet heard from the replica. */
function beginFailover(sentinel: RedisServer): Promise<boolean> {
  return withRedis(sentinel, async (command) => {
    const answer = await command("SENTINEL", "FAILOVER", MASTER_NAME).catch((error: Error) => error.message);
    return answer === "OK" || String(answer).startsWith("INPROG");
  });
}

function names(sentinel: RedisServer, server: RedisServer): Promise<boolean> {
  return withRedis(sentinel, async (command) => {
    const address = await command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME);
    return Array.isArray(address) && Number(address[1]) === server.port;
  });
}

/** The name, value, name, value … of an answer of SENTINEL. */
function flat(answer: unknown): Record<string, string> {
  const items = Array.isArray(answer) ? answer.map(String) : [];
  const pairs = items.flatMap((name, index) => (index % 2 === 0 ? [[name, items[index + 1] ?? ""]] : []));
  return Object.fromEntries(pairs);
}
