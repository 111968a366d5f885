import { setTimeout as pause } from "node:timers/promises";
import { type BatchStore, type ClaimingStore, InMemoryStore, type Store } from "@bq/idempotency-core";
import { keyPrefix } from "../stores/key.ts";
import { type StoreAddress, storeTimeoutMs } from "./config.ts";

export type OpenStore = Store & BatchStore & ClaimingStore & { close?(): Promise<void> };

/** How long a worker that starts while its store is away tries to reach it, in milliseconds. */
const patienceMs = 30_000;

/** Opens the store. It may be away just now: then it is tried again, as a supervisor would restart the worker. */
export async function openStore(address: StoreAddress): Promise<OpenStore> {
  const end = Date.now() + patienceMs;
  for (;;) {
    try {
      return await open(address);
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(100);
    }
  }
}

// Each driver is loaded only by the workers that need it: eight of them start at once.
async function open(address: StoreAddress): Promise<OpenStore> {
  switch (address.kind) {
    case "memory":
      return new InMemoryStore();
    case "sqlite": {
      const { SqliteStore } = await import("@bq/idempotency-sqlite");
      return SqliteStore.connect(address.path, { busyTimeoutMs: storeTimeoutMs });
    }
    case "redis":
    case "redis-cluster": {
      const { RedisStore } = await import("@bq/idempotency-redis");
      const target = address.kind === "redis" ? address.url : address.nodes;
      return RedisStore.connect(target, { prefix: keyPrefix, commandTimeoutMs: storeTimeoutMs });
    }
    case "postgres": {
      const { PostgresStore } = await import("@bq/idempotency-postgres");
      const store = await PostgresStore.connect(address.url, {
        lockTimeoutMs: storeTimeoutMs / 2,
        // Eight workers that all come back at once are served in this time by a slow machine, too; in less, each would give up
        // and begin anew, and none would ever be served.
        connectTimeoutMs: 10_000,
        maxConnections: 3,
      });
      try {
        await store.migrate();
      } catch (error) {
        await store.close();
        throw error;
      }
      return store;
    }
  }
}
