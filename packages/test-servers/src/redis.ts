import { findServer, type ServerSource } from "./find-server.ts";
import { onFreePort } from "./free-port.ts";
import { ServerProcess } from "./server-process.ts";
import { serverStart } from "./server-start.ts";
import { watchdog } from "./watchdog.ts";

const REDIS: ServerSource = {
  title: "Redis 7 or Valkey",
  programs: ["redis-server", "valkey-server"],
  aptPackage: "redis-server",
  image: "redis:7",
  givenBy: "BQ_TEST_REDIS_URL",
};

export interface RedisOptions {
  /** Further arguments of redis-server, such as `["--maxmemory", "2mb"]`. They win over ours. */
  readonly args?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
  /** Keeps every acknowledged write over `kill()` and `restart()`. Default: false, nothing is written to disk. */
  readonly persistent?: boolean;
}

/** A Redis server of the tests' own. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Ends the server for good and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL; the folder stays for `restart()`. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and in the same folder; ends it first if it runs. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open, nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Starts a Redis server. @throws Error when there is none to be had; it names what to install. */
export function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { args = [], port, persistent = false } = options;
  const durability = persistent ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
  const start = (onPort: number) =>
    startRedisProcess(
      onPort,
      async () => ["--save", "", ...durability, ...args],
      "Ready to accept connections",
    );
  return port === undefined ? onFreePort(start) : start(port);
}

/** Starts redis-server with its folder, for every role that it can have. */
export async function startRedisProcess(
  port: number,
  args: (folder: string) => Promise<readonly string[]>,
  readyPattern: string,
): Promise<RedisServer> {
  const found = await findServer(REDIS);
  const folder = await watchdog().makeFolder("redis");
  const host = "127.0.0.1";
  const own = await args(folder);
  // A configuration file comes first on the command line.
  const file = own[0]?.endsWith(".conf") ? own.slice(0, 1) : [];
  const server = await ServerProcess.start(
    serverStart(found, {
      name: "redis-server",
      args: [...file, "--port", String(port), "--bind", host, "--dir", folder, ...own.slice(file.length)],
      folder,
      readyPattern,
      endSignal: "SIGTERM",
    }),
  );
  return {
    url: `redis://${host}:${port}`,
    host,
    port,
    stop: () => server.stop(),
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
