import assert from "node:assert/strict";
import type { Awaitable, Claim, ClaimingStore, Store } from "@bq/idempotency-core";
import { quoteId } from "@bq/idempotency-core/backend";

/** Holds `seen` to the answer, which must be a boolean and nothing that resembles one. */
export async function expectSeen(store: Store, id: string, expected: boolean, when: string): Promise<void> {
  const answer: unknown = await store.seen(id);
  assert.equal(answer, expected, `seen(${quoteId(id)}) ${when}`);
}

/** Both handles say that the id has a live mark, or that it has none. */
export async function expectSeenByAll(
  stores: readonly Store[],
  id: string,
  expected: boolean,
  when: string,
): Promise<void> {
  for (const [index, store] of stores.entries()) {
    await expectSeen(store, id, expected, `on handle ${index + 1} ${when}`);
  }
}

/** Claims an id that must be free. */
export async function take(
  store: ClaimingStore,
  id: string,
  leaseMs: number,
  when = "on a free id",
): Promise<Claim> {
  const result = await store.claim(id, leaseMs);
  assert.equal(result.status, "claimed", `claim(${quoteId(id)}) ${when}`);
  assert.ok(result.status === "claimed");
  assert.equal(result.claim.id, id, "the claim carries the id that was claimed");
  assert.equal(typeof result.claim.token, "string", "the claim carries a token");
  return result.claim;
}

/** The id is held by somebody else. */
export async function expectInFlight(
  store: ClaimingStore,
  id: string,
  leaseMs: number,
  when: string,
): Promise<void> {
  const result = await store.claim(id, leaseMs);
  assert.equal(result.status, "in-flight", `claim(${quoteId(id)}) ${when}`);
}

/** The id has a mark, so a claim has nothing to do. */
export async function expectProcessed(
  store: ClaimingStore,
  id: string,
  leaseMs: number,
  when: string,
): Promise<void> {
  const result = await store.claim(id, leaseMs);
  assert.equal(result.status, "processed", `claim(${quoteId(id)}) ${when}`);
}

/** The call throws, or rejects with, an error of one of these names. The class may be another realm's. */
export async function expectError(
  names: readonly string[],
  call: () => Awaitable<unknown>,
  what: string,
): Promise<void> {
  let error: unknown;
  try {
    const answer = await call();
    assert.fail(
      `${what} must throw ${names.join(" or ")}, but answered ${JSON.stringify(answer) ?? "undefined"}`,
    );
  } catch (thrown) {
    if (thrown instanceof assert.AssertionError) throw thrown;
    error = thrown;
  }
  const { name } = (error ?? {}) as { name?: unknown };
  assert.ok(
    typeof name === "string" && names.includes(name),
    `${what} must throw ${names.join(" or ")}, but threw ${String(error)}`,
  );
}

/** What the call rejected with, in an array: it may be `undefined`. Empty when it did not reject. */
export async function rejection(call: () => Awaitable<unknown>): Promise<unknown[]> {
  try {
    await call();
    return [];
  } catch (error) {
    return [error];
  }
}
