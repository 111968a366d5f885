import type { StoreName } from "../scenarios.ts";
import { startPostgresStore } from "./postgres.ts";
import { startRedisStore } from "./redis.ts";
import { startRedisClusterStore } from "./redis-cluster.ts";
import { startSqliteStore } from "./sqlite.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export interface StoreTerms {
  /** By how much the wall clock of its server is off; empty: it is right. */
  readonly clock: string;
  /** A folder for what it keeps in files. */
  readonly folder: string;
}

/** Starts the servers of a store. */
export function startStore(store: StoreName, { clock, folder }: StoreTerms): Promise<StoreUnderTest> {
  switch (store) {
    case "memory":
      return startMemoryStore();
    case "sqlite":
      return startSqliteStore(folder);
    case "redis":
      return startRedisStore();
    case "redis-cluster":
      return startRedisClusterStore();
    case "postgres":
      return startPostgresStore(clock);
  }
}

/** It lives in the worker. */
async function startMemoryStore(): Promise<StoreUnderTest> {
  return { address: { kind: "memory" }, injure: {}, [Symbol.asyncDispose]: async () => {} };
}
