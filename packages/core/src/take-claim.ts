import { setTimeout as pause } from "node:timers/promises";
import { withDeadline } from "./deadline.ts";
import { ClaimParkedError, quoteId, StoreError, StoreTimeoutError } from "./errors.ts";
import { isDelay, type Settings, show } from "./options.ts";
import { type Awaitable, type Claim, type ClaimingStore, type ClaimResult, isThenable } from "./store.ts";

/** The options of `wrapClaiming`, read once. */
export interface ClaimingSettings<M> extends Settings<M> {
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly maxWaiters: number;
}

/** A claim that was given, and when it was asked for. */
export interface Grant {
  readonly claim: Claim;
  readonly claimedAt: number;
}

/** What a delivery got: the claim, or word that there is nothing to do, or nothing from a store that fails (fail open). */
export type Taken = Grant | "processed" | "unknown";

/** Makes the function that claims an id, waits for it as far as the options allow, or parks. */
export function claimTaker(
  store: ClaimingStore,
  settings: ClaimingSettings<never>,
): (id: string) => Promise<Taken> {
  const { events, maxWaiters, onStoreFailure, waitMs } = settings;
  let waiters = 0;

  return async (id) => {
    const startedAt = performance.now();
    let { result, claimedAt } = await askOrGiveUp(id);
    if (result !== "unknown" && result.status === "in-flight" && waitMs > 0 && waiters < maxWaiters) {
      waiters += 1;
      try {
        ({ result, claimedAt } = await wait(id, startedAt + waitMs, result));
      } finally {
        waiters -= 1;
      }
    }
    if (result === "unknown") return "unknown";
    if (result.status === "claimed") return { claim: result.claim, claimedAt };
    const durationMs = performance.now() - startedAt;
    if (result.status === "processed") {
      events.tell({ type: "skipped", id, durationMs });
      return "processed";
    }
    events.tell({ type: "parked", id, durationMs, retryAfterMs: result.retryAfterMs });
    throw new ClaimParkedError(id, result.retryAfterMs);
  };

  type Asked = { result: ClaimResult | "unknown"; claimedAt: number };

  async function wait(
    id: string,
    until: number,
    first: ClaimResult & { status: "in-flight" },
  ): Promise<Asked> {
    let asked: Asked = { result: first, claimedAt: 0 };
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, longestPollMs)) {
      const left = until - performance.now();
      if (asked.result === "unknown" || asked.result.status !== "in-flight" || left <= 0) return asked;
      await pause(Math.min(pauseMs, asked.result.retryAfterMs, left));
      asked = await askOrGiveUp(id);
    }
  }

  async function askOrGiveUp(id: string): Promise<Asked> {
    const claimedAt = performance.now();
    try {
      return { result: requireTimely(await ask(id), claimedAt), claimedAt };
    } catch (cause) {
      const error = cause as StoreError;
      const durationMs = performance.now() - claimedAt;
      events.tell({ type: "store-failed", id, durationMs, error, action: onStoreFailure });
      if (onStoreFailure === "throw") throw error;
      return { result: "unknown", claimedAt };
    }
  }

  /** A worker that was suspended may find the answer before the time limit, and by then another may hold the id. */
  function requireTimely(result: ClaimResult, claimedAt: number): ClaimResult {
    const { leaseMs } = settings;
    if (result.status !== "claimed" || performance.now() - claimedAt < leaseMs) return result;
    giveBack(store, result);
    throw new StoreTimeoutError("claim", result.claim.id, leaseMs);
  }

  function ask(id: string): Awaitable<ClaimResult> {
    // An answer that comes after the lease would be a claim that is over already.
    const limitMs = Math.min(settings.storeTimeoutMs, settings.leaseMs);
    const call = () => store.claim(id, settings.leaseMs);
    const answer = withDeadline(settings, {
      operation: "claim",
      id,
      limitMs,
      call,
      onLate: (late) => giveBack(store, late),
    });
    return isThenable(answer)
      ? answer.then((result) => requireClaimResult(result, id))
      : requireClaimResult(answer, id);
  }
}

/** While it waits, a delivery asks for its id at least this often, in milliseconds. */
const longestPollMs = 250;

/** Gives back a claim that was granted after its delivery had been told of a timeout: nobody would hold it. */
function giveBack(store: ClaimingStore, late: ClaimResult): void {
  if (late?.status !== "claimed") return;
  const { claim } = late;
  Promise.resolve()
    .then(() => store.release(claim))
    .catch(() => {
      // It lapses with its lease.
    });
}

function requireClaimResult(result: ClaimResult, id: string): ClaimResult {
  const wrong = faultOf(result);
  if (wrong === undefined) return result;
  throw new StoreError(`The store answered claim of ${quoteId(id)} with ${wrong}.`, {
    operation: "claim",
    id,
  });
}

/** What is wrong with an answer that a store of anybody's gave; `undefined` when nothing is. */
function faultOf(result: unknown): string | undefined {
  const { status, claim, retryAfterMs } = (result ?? {}) as Partial<Record<string, unknown>>;
  if (status === "processed") return undefined;
  if (status === "claimed") {
    const { id, token } = (claim ?? {}) as Partial<Claim>;
    const complete = typeof id === "string" && typeof token === "string";
    return complete ? undefined : `"claimed" but no claim, which has an id and a token: ${show(claim)}`;
  }
  if (status === "in-flight") {
    return isDelay(retryAfterMs)
      ? undefined
      : `"in-flight" but a retryAfterMs that is no number of milliseconds: ${show(retryAfterMs)}`;
  }
  return `${show(result)} instead of claimed, in-flight or processed`;
}
