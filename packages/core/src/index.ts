export {
  ClaimLostError,
  ClaimParkedError,
  IdempotencyError,
  type IdempotencyErrorCode,
  isIdempotencyError,
  isStoreError,
  StoreError,
  type StoreErrorCode,
  StoreTimeoutError,
} from "./errors.ts";
export type { IdempotencyEvent, ObserveEvents } from "./events.ts";
export { InMemoryStore, type InMemoryStoreOptions } from "./in-memory-store.ts";
export type { Envelope, Message, ProducerLanguage, ReadKey } from "./message.ts";
export type { WrapOptions } from "./options.ts";
export { storageKey } from "./storage-key.ts";
export {
  type Awaitable,
  type BatchStore,
  type Claim,
  type ClaimingStore,
  type ClaimResult,
  type Finding,
  isBatchStore,
  isClaimingStore,
  isStore,
  isTransactionalStore,
  type Severity,
  type Store,
  type TransactionalStore,
  type TransactResult,
} from "./store.ts";
export { wrap, wrap as Wrap } from "./wrap.ts";
export { type BatchOptions, type BatchResult, wrapBatch } from "./wrap-batch.ts";
export { type ClaimContext, type ClaimingOptions, wrapClaiming } from "./wrap-claiming.ts";
export { type TransactionalOptions, wrapTransactional } from "./wrap-transactional.ts";
