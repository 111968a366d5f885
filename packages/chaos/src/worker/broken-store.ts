import { randomUUID } from "node:crypto";
import type { Awaitable, TransactionalStore, TransactResult } from "@bq/idempotency-core";
import type { Breakage } from "./config.ts";
import type { OpenStore } from "./open-store.ts";

/**
 * A store that does not keep what it promises, to show that a run with it fails. `"forgetful"` writes no mark; `"generous"`
 * gives every claim to everybody.
 */
export function breakStore(store: OpenStore, breakage: Breakage): OpenStore {
  return breakage === "forgetful" ? forgetful(store) : generous(store);
}

function forgetful(store: OpenStore): OpenStore {
  return {
    ...delegating(store),
    remember: () => {},
    commit: (claim) => store.release(claim),
    // Without an id the work runs in a transaction that writes no mark.
    transact: (_id: string | undefined, work: Work) => transactional(store).transact(undefined, work),
  } as OpenStore;
}

function generous(store: OpenStore): OpenStore {
  return {
    ...delegating(store),
    claim: (id) => ({ status: "claimed", claim: { id, token: randomUUID() } }),
    renew: () => true,
    commit: () => true,
    release: () => true,
  };
}

type Work = (tx: unknown) => Awaitable<unknown>;

function transactional(store: OpenStore): TransactionalStore<unknown> {
  return store as unknown as TransactionalStore<unknown>;
}

function delegating(store: OpenStore): OpenStore {
  return {
    seen: (id) => store.seen(id),
    remember: (id) => store.remember(id),
    forget: (id) => store.forget(id),
    seenMany: (ids) => store.seenMany(ids),
    rememberMany: (ids) => store.rememberMany(ids),
    claim: (id, leaseMs) => store.claim(id, leaseMs),
    renew: (claim, leaseMs) => store.renew(claim, leaseMs),
    commit: (claim) => store.commit(claim),
    release: (claim) => store.release(claim),
    close: async () => store.close?.(),
    transact: (id: string | undefined, work: Work): Promise<TransactResult<unknown>> =>
      transactional(store).transact(id, work),
    within: () => store,
  } as OpenStore;
}
