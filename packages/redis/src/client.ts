import { show } from "@bq/idempotency-core/backend";
import type { Request } from "./commands.ts";

/**
 * What the store needs of a client: an ioredis `Redis` (standalone or Sentinel) or `Cluster`, of version 5 or 6.
 */
export interface RedisClient {
  /** Is it a client of a cluster? */
  readonly isCluster: boolean;
  /** What the client was made with. */
  readonly options: object;
  /** Sends any command. */
  call(command: string, args: string[]): Promise<unknown>;
  /** Listens to the connection's events. */
  on(event: string, listener: () => void): unknown;
}

/** Stops an attempt that nobody waits for any more from sending anything further. */
export interface Attempt {
  abandoned: boolean;
}

/**
 * Sends a command, or a script by its digest; the script's text follows when the server does not have it (after a restart, a
 * failover, SCRIPT FLUSH). Nothing is defined on the client, which may be somebody else's.
 */
export async function send(client: RedisClient, request: Request, attempt: Attempt): Promise<unknown> {
  if (!isScriptCall(request)) {
    const [name, ...args] = request;
    return client.call(name, args);
  }
  const { script, operands } = request;
  try {
    return await client.call("evalsha", [script.sha, ...operands]);
  } catch (error) {
    if (!isNoScript(error) || attempt.abandoned) throw error;
    return client.call("eval", [script.lua, ...operands]);
  }
}

function isScriptCall(request: Request): request is Exclude<Request, readonly string[]> {
  return "script" in request;
}

function isNoScript(error: unknown): boolean {
  return isReply(error) && error.message.startsWith("NOSCRIPT");
}

/** Did the server itself answer with this error? Then it did not do what it was asked; after any other error it may have. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** The namespace that the client's owner put before all keys. */
export function keyPrefixOf(client: RedisClient): string {
  const { keyPrefix } = client.options as { keyPrefix?: unknown };
  return keyPrefix === undefined || keyPrefix === null ? "" : String(keyPrefix);
}

/**
 * Throws `TypeError` unless this is a client that can work. With `stringNumbers` a cluster client of ioredis compares the
 * bounds of the slots as texts, so that "5461" comes after "10922" and a node's slots are left out. A single command finds
 * its way by a redirection, but an automatic pipeline throws for each of these slots.
 */
export function requireClient(client: unknown): asserts client is RedisClient {
  const { call, isCluster, options } = (client ?? {}) as Partial<RedisClient>;
  if (typeof call !== "function" || typeof isCluster !== "boolean") {
    throw new TypeError(`RedisStore: the client must be an ioredis Redis or Cluster, got ${show(client)}.`);
  }
  if (!isCluster) return;
  const { enableAutoPipelining, redisOptions } = (options ?? {}) as {
    enableAutoPipelining?: boolean;
    redisOptions?: { stringNumbers?: boolean };
  };
  if (enableAutoPipelining && redisOptions?.stringNumbers) {
    throw new TypeError(
      "RedisStore: a cluster client with both enableAutoPipelining and redisOptions.stringNumbers cannot reach all slots, for ioredis then misreads the slot table. Leave out one of the two.",
    );
  }
}
