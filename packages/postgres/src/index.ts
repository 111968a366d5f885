export type { MarkResult, Marks } from "./marks.ts";
export type { PostgresConnectOptions, PostgresStoreOptions } from "./options.ts";
export type { PurgeEveryOptions, PurgeOptions } from "./purge.ts";
export { PostgresStore } from "./store.ts";
