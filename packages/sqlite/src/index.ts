export type { SqliteStoreOptions } from "./options.ts";
export type { PurgeEveryOptions, PurgeOptions } from "./purge.ts";
export { SqliteStore } from "./store.ts";
export type { StoreInTransaction } from "./within.ts";
