import type { Claim, ClaimingStore } from "@bq/idempotency-core";
import { expect } from "vitest";

/** Claims an id that is free; fails when it is not. */
export async function take(store: ClaimingStore, id: string, leaseMs = 60_000): Promise<Claim> {
  const result = await store.claim(id, leaseMs);
  expect(result.status, `claim of ${id}`).toBe("claimed");
  if (result.status !== "claimed") throw new Error("unreachable");
  return result.claim;
}
