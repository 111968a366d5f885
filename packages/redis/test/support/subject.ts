import type { Subject } from "@bq/idempotency-conformance";
import type { RedisClient, RedisConnectOptions } from "../../src/index.ts";
import { type ClusterNode, RedisStore } from "../../src/index.ts";

interface Disconnectable {
  disconnect(): void;
}

const capabilities = ["ttl", "batch", "claims"] as const;

/** The store on connections of its own. */
export function ownConnectionSubject(
  name: string,
  target: string | readonly ClusterNode[],
  options?: RedisConnectOptions,
): Subject {
  return {
    name,
    capabilities,
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
