import { withDeadline } from "./deadline.ts";
import { ClaimLostError, toStoreError } from "./errors.ts";
import { requireParts, runHandler } from "./handler.ts";
import { Lease } from "./lease.ts";
import { writeMark } from "./mark.ts";
import { type Identity, identify, type Message, type ReadKey } from "./message.ts";
import { maxTimerMs, OptionReader, readWrapOptions, type WrapOptions, wrapOptionNames } from "./options.ts";
import type { Awaitable, Claim, ClaimingStore } from "./store.ts";
import { type ClaimingSettings, claimTaker, type Grant } from "./take-claim.ts";

export interface ClaimingOptions<M = unknown> extends WrapOptions<M> {
  /**
   * How long a claim holds without renewal, in milliseconds. It is renewed every third of that while the handler runs, so
   * it need not cover the handler: it is how long a message waits after its worker died. Default 30 000.
   */
  leaseMs?: number | undefined;
  /** How long to wait for an id that is in flight elsewhere before the delivery is parked, in milliseconds. Default 0. */
  waitMs?: number | undefined;
  /**
   * How many deliveries of this wrapper may wait at the same time; further ones are parked at once, so that duplicates of
   * one slow message never use up all slots of a consumer. Default 4.
   */
  maxWaiters?: number | undefined;
}

/** What a handler under a claim is given beside the message. */
export interface ClaimContext {
  /** The message's id; `undefined` when it had no usable one, and then there is no claim either. */
  readonly id: string | undefined;
  /** Aborts with a `ClaimLostError` when the lease is over: another worker may take the id from then on. */
  readonly signal: AbortSignal;
  /** Throws `ClaimLostError` when the lease is over: call it before a step that cannot be undone, or in a long computation. */
  assertHeld(): void;
}

/**
 * Runs the handler once per message, also when deliveries of it overlap: the id is claimed before the handler and marked
 * after it. While another worker holds the claim, a delivery is parked: it rejects with `ClaimParkedError`, and the broker
 * should bring it again after its `retryAfterMs`.
 *
 * A worker that dies between effect and mark leaves a claim that lapses, and the redelivery runs the handler again. Where
 * that must not happen, use `wrapTransactional`.
 *
 * @throws {TypeError | RangeError} at once, for a bad store, handler or option
 * @returns a function that rejects with what the handler threw, with `ClaimParkedError`, or with a `StoreError` when the
 *   store cannot say whether the id was processed (the handler has not run then)
 *
 * @example
 * const onOrder = wrapClaiming(store, async (message: Envelope<Order>, { signal }) => charge(message.data, signal));
 */
export function wrapClaiming<M extends Message, Rest extends unknown[], R>(
  store: ClaimingStore,
  handler: (message: M, context: ClaimContext, ...rest: Rest) => Awaitable<R>,
  options?: ClaimingOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined>;
/** A message of any other shape needs the option `key`, which reads its id. */
export function wrapClaiming<M, Rest extends unknown[], R>(
  store: ClaimingStore,
  handler: (message: M, context: ClaimContext, ...rest: Rest) => Awaitable<R>,
  options: ClaimingOptions<M> & { key: ReadKey<M> },
): (message: M, ...rest: Rest) => Promise<R | undefined>;
export function wrapClaiming<M, Rest extends unknown[], R>(
  store: ClaimingStore,
  handler: (message: M, context: ClaimContext, ...rest: Rest) => Awaitable<R>,
  options?: ClaimingOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined> {
  requireParts("wrapClaiming", store, ["claim", "renew", "commit", "release"], handler);
  const settings = readClaimingOptions<M>(options);
  const takeClaim = claimTaker(store, settings);

  return async (message, ...rest) => {
    const identity = identify(message, settings.key);
    const { id } = identity;
    const handle = (context: ClaimContext) => handler(message, context, ...rest);
    const grant = id === undefined ? "unidentified" : await takeClaim(id);
    if (grant === "processed") return undefined;
    if (typeof grant === "object") return underLease(store, settings, identity, grant, handle);
    const value = await runHandler(settings.events, identity, () => handle(unclaimed(id)));
    if (id !== undefined) {
      await writeMark(settings, { operation: "remember", ids: [id], write: () => store.remember(id) });
    }
    return value;
  };
}

function readClaimingOptions<M>(options: unknown): ClaimingSettings<M> {
  const read = new OptionReader("wrapClaiming", options, [
    ...wrapOptionNames,
    "leaseMs",
    "waitMs",
    "maxWaiters",
  ]);
  return Object.freeze({
    ...readWrapOptions<M>(read),
    leaseMs: read.integer("leaseMs", { min: 1, max: maxTimerMs, unit: "milliseconds" }) ?? 30_000,
    waitMs: read.integer("waitMs", { min: 0, max: maxTimerMs, unit: "milliseconds" }) ?? 0,
    maxWaiters: read.integer("maxWaiters", { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? 4,
  });
}

/** Runs the handler while its claim is renewed; then commits it, or releases it when the handler threw. */
async function underLease<R>(
  store: ClaimingStore,
  settings: ClaimingSettings<never>,
  identity: Identity,
  { claim, claimedAt }: Grant,
  handle: (context: ClaimContext) => Awaitable<R>,
): Promise<R> {
  const { events, leaseMs, storeTimeoutMs } = settings;
  const { id } = claim;
  const startedAt = events.now();
  const onLost = (error: ClaimLostError) =>
    events.tell({ type: "claim-lost", id, durationMs: events.now() - startedAt, error });
  const lease = new Lease({ store, claim, leaseMs, renewTimeoutMs: storeTimeoutMs, claimedAt, onLost });
  const context: ClaimContext = {
    id,
    get signal() {
      return lease.signal;
    },
    assertHeld: () => lease.assertHeld(),
  };
  let value: R;
  try {
    value = await runHandler(events, identity, () => handle(context));
  } catch (error) {
    lease.stop();
    await release(store, settings, claim);
    throw error;
  }
  lease.settle();
  let attempts = 0;
  const write = () => {
    attempts += 1;
    return store.commit(claim);
  };
  let ours: boolean | undefined;
  try {
    ours = await writeMark(settings, { operation: "commit", ids: [id], write });
  } finally {
    lease.stop();
  }
  // A second attempt finds the mark of a first whose answer was lost: as long as the lease stood, that mark was ours.
  const foundOurOwn = attempts > 1 && lease.held;
  if (ours === false && !lease.lost && !foundOurOwn) onLost(new ClaimLostError(id));
  return value;
}

/** Drops the claim after a failure. That this fails as well must not hide what the handler threw. */
async function release(store: ClaimingStore, settings: ClaimingSettings<never>, claim: Claim): Promise<void> {
  const { events } = settings;
  const startedAt = events.now();
  try {
    await withDeadline(settings, {
      operation: "release",
      id: claim.id,
      call: () => store.release(claim),
    });
  } catch (cause) {
    const error = toStoreError(cause, "release", claim.id);
    events.tell({ type: "release-failed", id: claim.id, durationMs: events.now() - startedAt, error });
  }
}

/** The context of a handler that runs without a claim: nothing that could be lost. */
function unclaimed(id: string | undefined): ClaimContext {
  let signal: AbortSignal | undefined;
  return {
    id,
    get signal() {
      signal ??= new AbortController().signal;
      return signal;
    },
    assertHeld() {},
  };
}
