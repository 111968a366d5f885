import { requireIds, storageKey } from "@bq/idempotency-core/backend";

/** What a batch of ids is stored under, in their order. Throws `TypeError` for anything but a list of usable ids. */
export function keysOf(ids: readonly string[]): string[] {
  requireIds(ids);
  return ids.map(storageKey);
}

/** Each key once and in the order of the table: neighbours share a page. */
export function inOrder(keys: readonly string[]): string[] {
  return [...new Set(keys)].sort();
}
