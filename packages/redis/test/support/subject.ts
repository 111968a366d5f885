import type { CaseContext, Subject } from "@bq/idempotency-conformance";
import { Redis } from "ioredis";
import { afterAll } from "vitest";
import type { RedisClient, RedisConnectOptions } from "../../src/index.ts";
import { type ClusterNode, RedisStore } from "../../src/index.ts";
import { nodeUrl, sharedNodes, sharedUrl } from "./servers.ts";

interface Disconnectable {
  disconnect(): void;
}

const capabilities = ["ttl", "batch", "claims"] as const;

// What lives under the namespace gets older at once, whatever the client's owner put before it.
const growOlder = `
for _, key in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. ':*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then
    redis.call('PEXPIRE', key, left - ARGV[2])
  end
end
`;

/** Moves the clock by moving what is stored; that marks and leases end in real time is tested beside the suite. */
async function advance(ms: number, { namespace }: CaseContext): Promise<void> {
  await Promise.all(allServers.map((server) => server.eval(growOlder, 0, namespace, ms)));
}

const allServers = [sharedUrl, ...sharedNodes.map((node) => nodeUrl(node))].map((url) => new Redis(url));
afterAll(() => {
  for (const server of allServers) server.disconnect();
});

/** The store on connections of its own. */
export function ownConnectionSubject(
  name: string,
  target: string | readonly ClusterNode[],
  options?: RedisConnectOptions,
): Subject {
  return {
    name,
    capabilities,
    advance,
    open: ({ namespace, ttlMs }) =>
      RedisStore.connect(target, { ...options, prefix: `${namespace}:`, ttlMs }),
  };
}

/** The store on a borrowed client, a new one for each handle. */
export function borrowedClientSubject(name: string, borrow: () => RedisClient & Disconnectable): Subject {
  const clients = new WeakMap<object, Disconnectable>();
  return {
    name,
    capabilities,
    advance,
    open: ({ namespace, ttlMs }) => {
      const client = borrow();
      const store = new RedisStore(client, { prefix: `${namespace}:`, ttlMs });
      clients.set(store, client);
      return store;
    },
    async close(store) {
      await (store as RedisStore).close();
      clients.get(store)?.disconnect();
    },
  };
}
