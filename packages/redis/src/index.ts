export type { RedisClient } from "./client.ts";
export type { ClusterNode } from "./connect.ts";
export type { RedisConnectOptions, RedisStoreOptions } from "./options.ts";
export { RedisStore } from "./store.ts";
