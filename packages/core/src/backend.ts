/**
 * What an author of a store needs beside the contract: how ids become keys, how options are read, how failures are told.
 *
 * @module
 */
export { quoteId, StoreError, type StoreErrorCode, toStoreError } from "./errors.ts";
export { GroupCommit, type GroupTerms } from "./group-commit.ts";
export { maxTimerMs, maxTtlMs, OptionReader, requireInteger, show } from "./options.ts";
export { requireId, requireIds, storageKey } from "./storage-key.ts";
export { type Awaitable, isThenable } from "./store.ts";
export { TimeLimits } from "./time-limits.ts";
export { newToken, requireClaim } from "./token.ts";
