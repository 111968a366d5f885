import { requireIds, StoreError, storageKey } from "@bq/idempotency-core/backend";
import type { Parameter } from "./ask.ts";

/** The ids of a question, in their order, as one JSON parameter. */
export function asked(ids: readonly string[]): Parameter {
  requireIds(ids);
  return JSON.stringify(ids.map(storageKey));
}

/**
 * The ids of a write: each once, for one statement cannot write a row twice, and sorted, so that two batches lock the rows
 * that they share in the same order and never wait for each other in a circle.
 */
export function written(ids: readonly string[]): Parameter {
  requireIds(ids);
  return JSON.stringify([...new Set(ids.map(storageKey))].sort());
}

/** Reads the `1`s and `0`s that answer a question for `count` ids. */
export function answers(digits: string | undefined, count: number): boolean[] {
  if (digits?.length !== count) {
    throw new StoreError(
      `The server answered for ${digits?.length ?? 0} ids where ${count} were asked for.`,
      { operation: "seenMany" },
    );
  }
  return Array.from(digits, (digit) => digit === "1");
}
