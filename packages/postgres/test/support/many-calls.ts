import type { Claim } from "@bq/idempotency-core";
import type { PostgresStore } from "../../src/index.ts";

export function idsOf(count: number, name = "id"): string[] {
  return Array.from({ length: count }, (_, number) => `${name}-${number}`);
}

export async function claimAll(store: PostgresStore, ids: readonly string[]): Promise<Claim[]> {
  const results = await Promise.all(ids.map((id) => store.claim(id, 600_000)));
  return results.map((result) => {
    if (result.status !== "claimed") throw new Error(`The claim found its id ${result.status}.`);
    return result.claim;
  });
}

/** Every call that can share a statement with its like. */
export const calls: Record<string, (store: PostgresStore, claim: Claim) => Promise<unknown>> = {
  seen: (store, { id }) => store.seen(id),
  remember: (store, { id }) => store.remember(id),
  forget: (store, { id }) => store.forget(id),
  claim: (store, { id }) => store.claim(id, 600_000),
  renew: (store, claim) => store.renew(claim, 600_000),
  commit: (store, claim) => store.commit(claim),
  release: (store, claim) => store.release(claim),
};
