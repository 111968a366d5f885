import { StoreError } from "@bq/idempotency-core";
import { show } from "@bq/idempotency-core/backend";
import { Cluster, Redis } from "ioredis";
import type { RedisClient } from "./client.ts";
import type { ConnectSettings } from "./options.ts";

/** A node of a cluster: an URL (`redis://` or, with TLS, `rediss://`), or a host and a port. */
export type ClusterNode = string | { readonly host: string; readonly port: number };

/** A client of the store's own. */
export interface OwnConnection {
  readonly client: RedisClient;
  readonly commandTimeoutMs: number;
  /** An error when the server has been out of reach for so long that nothing more should be queued for it. */
  unreachable(): StoreError | undefined;
  end(): void;
}

/** The longest pause before the next attempt to connect, in milliseconds. */
const longestPauseMs = 500;

function pauseBeforeAttempt(attempt: number): number {
  return Math.min(50 * 2 ** (attempt - 1), longestPauseMs);
}

/** Connects, or throws a `StoreError` that says why it cannot. */
export async function connect(
  target: string | readonly ClusterNode[],
  settings: ConnectSettings,
): Promise<OwnConnection> {
  const client = typeof target === "string" ? single(target, settings) : cluster(target, settings);
  let lastError: unknown;
  let lostAt: number | undefined;
  // Without a listener ioredis writes every failed attempt to the console.
  client.on("error", (error: unknown) => {
    lastError = error;
  });
  client.on("close", () => {
    lostAt ??= performance.now();
  });
  client.on("ready", () => {
    lostAt = undefined;
  });

  const failed = (situation: string, cause: unknown) =>
    new StoreError(`Redis at ${addressOf(target)} ${situation}: ${reasonOf(cause)}`, {
      operation: "connect",
      cause,
    });

  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(lastError ?? new Error(`no answer within ${settings.connectTimeoutMs} ms`));
    }, settings.connectTimeoutMs);
    client
      .connect()
      .then(() => selectDatabase(client))
      .then(resolve, (error) => reject(lastError ?? error))
      .finally(() => clearTimeout(timer));
  }).catch((error: unknown) => {
    client.disconnect();
    throw failed("cannot be reached", error);
  });

  return {
    client,
    commandTimeoutMs: settings.commandTimeoutMs,
    unreachable() {
      if (lostAt === undefined) return undefined;
      const lostForMs = performance.now() - lostAt;
      if (lostForMs < settings.commandTimeoutMs) return undefined;
      return failed(`has been out of reach for ${Math.round(lostForMs)} ms`, lastError);
    },
    end: () => client.disconnect(),
  };
}

function single(url: string, settings: ConnectSettings): Redis {
  requireUrl(url);
  return new Redis(url, { ...common(settings), retryStrategy: pauseBeforeAttempt, lazyConnect: true });
}

function cluster(nodes: readonly ClusterNode[], settings: ConnectSettings): Cluster {
  if (!Array.isArray(nodes) || nodes.length === 0) {
    throw new TypeError(
      `RedisStore.connect needs a redis:// or rediss:// URL, or a list of at least one node of a cluster, got ${show(nodes)}.`,
    );
  }
  const urls = nodes.map((node) => requireUrl(typeof node === "string" ? node : urlOf(node)));
  const [first] = urls as [URL, ...URL[]];
  const tls = first.protocol === "rediss:";
  return new Cluster(
    urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 6379),
    })),
    {
      lazyConnect: true,
      clusterRetryStrategy: pauseBeforeAttempt,
      slotsRefreshTimeout: settings.connectTimeoutMs,
      // Certificates name hosts, not the addresses that these resolve to.
      ...(tls ? { dnsLookup: (host, answer) => answer(null, host) } : {}),
      // The other nodes are found through the first ones, and take the same credentials.
      redisOptions: {
        ...common(settings),
        ...(first.username ? { username: decodeURIComponent(first.username) } : {}),
        ...(first.password ? { password: decodeURIComponent(first.password) } : {}),
        ...(tls ? { tls: {} } : {}),
      },
    },
  );
}

function common(settings: ConnectSettings) {
  return {
    connectTimeout: settings.connectTimeoutMs,
    // A connection that has gone silent is given up and made anew; without this it would fail every command for minutes.
    socketTimeout: settings.commandTimeoutMs,
    keepAlive: 10_000,
    // When the store ends a connection nothing is under way on it; a longer wait for a silent server would keep the process alive.
    disconnectTimeout: 100,
    // Commands wait for the reconnect; past these attempts they are dropped instead of being sent to nobody's use.
    maxRetriesPerRequest: 8,
  };
}

function urlOf({ host, port }: { host: string; port: number }): string {
  return `redis://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Throws unless this is an URL of Redis. The message leaves out what may be a password. */
function requireUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "redis:" || url.protocol === "rediss:") && url.hostname !== "") {
    requireDatabase(url);
    return url;
  }
  throw new TypeError(
    `RedisStore.connect needs an URL such as redis://user:password@host:6379 or rediss://host:6379, got ${url ? `one that starts with ${url.protocol}//${url.hostname}` : "something else"}.`,
  );
}

/** What is no number ioredis would send as NaN, and nobody could catch what the server says to that. */
function requireDatabase(url: URL): void {
  const named = url.searchParams.get("db") ?? url.pathname.slice(1);
  if (/^\d{0,9}$/.test(named)) return;
  throw new TypeError(
    `RedisStore.connect: the path of the URL is the number of a database, as in redis://host:6379/1, got ${show(named)}.`,
  );
}

/** ioredis connects all the same when the server refuses the database, and would work in another one. */
async function selectDatabase(client: Redis | Cluster): Promise<void> {
  if (client instanceof Redis && client.options.db) await client.select(client.options.db);
}

function addressOf(target: string | readonly ClusterNode[]): string {
  if (typeof target === "string") return new URL(target).host;
  return target.map((node) => new URL(typeof node === "string" ? node : urlOf(node)).host).join(", ");
}

function reasonOf(error: unknown): string {
  const { message, lastNodeError } = (error ?? {}) as { message?: string; lastNodeError?: Error };
  return [message || "the connection was closed", lastNodeError?.message].filter(Boolean).join(" ");
}
