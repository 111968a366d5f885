import { afterEach, expect, it, vi } from "vitest";
import {
  type Claim,
  type ClaimContext,
  type ClaimingStore,
  ClaimParkedError,
  type ClaimResult,
  type IdempotencyEvent,
  InMemoryStore,
  StoreTimeoutError,
  wrapClaiming,
} from "../src/index.ts";
import { message } from "./stores.ts";

afterEach(() => vi.restoreAllMocks());

/** An in-memory store of which some methods are replaced. */
function storeWith(replaced: Partial<ClaimingStore>, store = new InMemoryStore()): ClaimingStore {
  return {
    seen: (id) => store.seen(id),
    remember: (id) => store.remember(id),
    forget: (id) => store.forget(id),
    claim: (id, leaseMs) => store.claim(id, leaseMs),
    renew: (claim, leaseMs) => store.renew(claim, leaseMs),
    commit: (claim) => store.commit(claim),
    release: (claim) => store.release(claim),
    ...replaced,
  };
}

function recorded() {
  const events: IdempotencyEvent[] = [];
  return {
    events,
    types: () => events.map(({ type }) => type),
    observe: (event: IdempotencyEvent) => void events.push(event),
  };
}

it("the first delivery runs and passes its value back; a redelivery is skipped", async () => {
  const store = new InMemoryStore();
  const handler = vi.fn((_message: object, { id }: ClaimContext, more: string) => `${id} ${more}`);
  const deliver = wrapClaiming(store, handler);
  expect(await deliver(message("a"), "x")).toBe("a x");
  expect(await deliver(message("a"), "x")).toBeUndefined();
  expect(handler).toHaveBeenCalledTimes(1);
  expect(store.seen("a")).toBe(true);
});

it("while a delivery is in flight, another of the same id is parked and told when to come again", async () => {
  const store = new InMemoryStore();
  const { observe, types } = recorded();
  let finish = () => {};
  const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  const deliver = wrapClaiming(store, handler, { leaseMs: 5_000, observe });
  const first = deliver(message("a"));
  const error = await deliver(message("a")).catch((cause) => cause);
  expect(error).toBeInstanceOf(ClaimParkedError);
  expect(error).toMatchObject({ code: "BQ_CLAIM_PARKED", name: "ClaimParkedError", id: "a" });
  expect(error.retryAfterMs).toBeGreaterThan(4_000);
  expect(error.retryAfterMs).toBeLessThanOrEqual(5_000);
  finish();
  await first;
  expect(await deliver(message("a"))).toBeUndefined();
  expect(handler).toHaveBeenCalledTimes(1);
  expect(types()).toEqual(["parked", "ran", "skipped"]);
});

it("a handler that throws frees the id at once, and its error passes through", async () => {
  const store = new InMemoryStore();
  for (const error of [new Error("declined"), undefined, null]) {
    const failing = wrapClaiming(store, () => Promise.reject(error));
    await expect(failing(message("a"))).rejects.toBe(error);
    expect(store.seen("a")).toBe(false);
  }
  expect(await wrapClaiming(store, () => "ran")(message("a"))).toBe("ran");
});

it("when release fails as well, the caller sees the handler's error, and the event says that the id stays in flight", async () => {
  const { events, observe } = recorded();
  const down = new Error("store down");
  const deliver = wrapClaiming(
    storeWith({ release: () => Promise.reject(down) }),
    () => Promise.reject(new Error("declined")),
    { observe },
  );
  await expect(deliver(message("a"))).rejects.toEqual(new Error("declined"));
  expect(events.map(({ type }) => type)).toEqual(["failed", "release-failed"]);
  expect(events[1]).toMatchObject({
    id: "a",
    error: { code: "BQ_STORE_FAILED", operation: "release", cause: down },
  });
});

it("a release that never answers does not hang the delivery", async () => {
  const store = storeWith({ release: () => new Promise<boolean>(() => {}) });
  const deliver = wrapClaiming(store, () => Promise.reject(new Error("declined")), { storeTimeoutMs: 10 });
  await expect(deliver(message("a"))).rejects.toEqual(new Error("declined"));
});

it("with waitMs a delivery waits for the other and then skips, or runs if the other failed", async () => {
  for (const [error, expected] of [
    [undefined, undefined],
    [new Error("declined"), "ran"],
  ] as const) {
    const store = new InMemoryStore();
    let finish = () => {};
    const slow = wrapClaiming(
      store,
      () => new Promise<void>((resolve, reject) => (finish = error ? () => reject(error) : resolve)),
    );
    const first = slow(message("a")).catch(() => {});
    const second = wrapClaiming(store, () => "ran", { waitMs: 60_000 })(message("a"));
    setTimeout(() => finish(), 30);
    expect(await second).toBe(expected);
    await first;
  }
});

it("waiting ends after waitMs, and the delivery is parked", async () => {
  const store = new InMemoryStore();
  store.claim("a", 60_000);
  const startedAt = performance.now();
  await expect(wrapClaiming(store, () => "ran", { waitMs: 60 })(message("a"))).rejects.toThrow(
    ClaimParkedError,
  );
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(58);
});

it("a claim whose lease passed before the worker came to its answer is given back, and the handler does not run", async () => {
  const store = new InMemoryStore();
  const release = vi.fn((claim: Claim) => store.release(claim));
  // As a worker that is suspended: the answer is there, and nothing looks at it, nor at any timer, for longer than the lease.
  const claim = async (id: string, leaseMs: number) => {
    const answer = store.claim(id, leaseMs);
    const end = performance.now() + 30;
    while (performance.now() < end);
    return answer;
  };
  const { observe, types } = recorded();
  const handler = vi.fn();
  const deliver = wrapClaiming(storeWith({ claim, release }, store), handler, { leaseMs: 20, observe });
  await expect(deliver(message("a"))).rejects.toThrow(StoreTimeoutError);
  expect(handler).not.toHaveBeenCalled();
  expect(types()).toEqual(["store-failed"]);
  await vi.waitFor(() => expect(release).toHaveBeenCalledTimes(1));
});

it("at most maxWaiters deliveries wait; further ones are parked at once", async () => {
  const store = new InMemoryStore();
  store.claim("a", 60_000);
  const deliver = wrapClaiming(store, () => "ran", { waitMs: 60_000, maxWaiters: 2 });
  const waiting = [deliver(message("a")), deliver(message("a"))];
  await expect(deliver(message("a"))).rejects.toThrow(ClaimParkedError);
  store.forget("a");
  const outcomes = await Promise.all(waiting);
  expect(outcomes.sort()).toEqual(["ran", undefined]);
  // Those that waited are gone, so others may wait.
  store.forget("a");
  store.claim("a", 60_000);
  const later = deliver(message("a"));
  setTimeout(() => store.forget("a"), 20);
  expect(await later).toBe("ran");
});

it("without a usable id the handler runs unguarded, with a context that has nothing to lose", async () => {
  const contexts: ClaimContext[] = [];
  const deliver = wrapClaiming(
    new InMemoryStore(),
    (_message: object, context) => void contexts.push(context),
  );
  await Promise.all([deliver(message("")), deliver(message(""))]);
  expect(contexts).toHaveLength(2);
  expect(contexts[0]?.id).toBeUndefined();
  expect(contexts[0]?.signal.aborted).toBe(false);
  expect(contexts[0]?.signal).toBe(contexts[0]?.signal);
  expect(() => contexts[0]?.assertHeld()).not.toThrow();
});

it("a store that cannot say fails the delivery, or runs it unguarded and marks it, as the option says", async () => {
  const inner = new InMemoryStore();
  const store = storeWith({ claim: () => Promise.reject(new Error("down")) }, inner);
  const handler = vi.fn(() => "ran");
  const { observe, types } = recorded();
  await expect(wrapClaiming(store, handler, { observe })(message("a"))).rejects.toMatchObject({
    operation: "claim",
  });
  expect(handler).not.toHaveBeenCalled();
  expect(await wrapClaiming(store, handler, { observe, onStoreFailure: "run" })(message("a"))).toBe("ran");
  expect(inner.seen("a")).toBe(true);
  expect(types()).toEqual(["store-failed", "store-failed", "ran"]);
});

it("a claim that is granted after its timeout is given back", async () => {
  const inner = new InMemoryStore();
  let grant = () => {};
  const store = storeWith(
    { claim: (id, leaseMs) => new Promise((resolve) => (grant = () => resolve(inner.claim(id, leaseMs)))) },
    inner,
  );
  await expect(wrapClaiming(store, () => "ran", { storeTimeoutMs: 10 })(message("a"))).rejects.toThrow(
    StoreTimeoutError,
  );
  grant();
  await vi.waitFor(() => expect(inner.claim("a", 1_000).status).toBe("claimed"));
});

it("a claim whose answer takes longer than its lease is a timeout: it would be over already", async () => {
  const handler = vi.fn();
  const store = storeWith({ claim: () => new Promise<ClaimResult>(() => {}) });
  await expect(wrapClaiming(store, handler, { leaseMs: 20 })(message("a"))).rejects.toMatchObject({
    timeoutMs: 20,
  });
  expect(handler).not.toHaveBeenCalled();
});

it("a commit that answers false is reported, and the delivery succeeds: the effect did happen", async () => {
  const inner = new InMemoryStore();
  const { events, observe } = recorded();
  const deliver = wrapClaiming(storeWith({}, inner), () => inner.forget("a"), { observe });
  await deliver(message("a"));
  expect(inner.seen("a")).toBe(true);
  expect(events).toEqual([
    { type: "ran", id: "a", durationMs: expect.any(Number) },
    {
      type: "claim-lost",
      id: "a",
      durationMs: expect.any(Number),
      error: expect.objectContaining({ code: "BQ_CLAIM_LOST" }),
    },
  ]);
});

it("a commit that was applied and whose answer was lost is no lost claim when it is tried again", async () => {
  const inner = new InMemoryStore();
  let lost = true;
  const commit: ClaimingStore["commit"] = (claim) => {
    const ours = inner.commit(claim);
    if (!lost) return ours;
    lost = false;
    throw new Error("connection reset");
  };
  const { observe, types } = recorded();
  expect(await wrapClaiming(storeWith({ commit }, inner), () => "ran", { observe })(message("a"))).toBe(
    "ran",
  );
  expect(types()).toEqual(["ran"]);
});

it("a commit that fails for good is a mark that failed", async () => {
  const store = storeWith({ commit: () => Promise.reject(new Error("down")) });
  const { events, observe } = recorded();
  expect(await wrapClaiming(store, () => "ran", { observe, markAttempts: 2 })(message("a"))).toBe("ran");
  expect(events.map(({ type }) => type)).toEqual(["ran", "mark-failed"]);
  const strict = wrapClaiming(store, () => "ran", { observe, markAttempts: 1, onMarkFailure: "throw" });
  await expect(strict(message("b"))).rejects.toMatchObject({ operation: "commit" });
});

it("without an observer a lost claim is a process warning", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const inner = new InMemoryStore();
  await wrapClaiming(inner, () => inner.forget("a"))(message("a"));
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('"a"'), {
    type: "IdempotencyWarning",
    code: "BQ_CLAIM_LOST",
  });
});

it("a store that answers claim with anything else is a failing store, never a guess", async () => {
  const answers: [unknown, string][] = [
    [undefined, "undefined"],
    [true, "true"],
    ["claimed", '"claimed"'],
    [{ status: "free" }, "an object"],
    [{ status: "claimed" }, "no claim"],
    [{ status: "claimed", claim: { id: "a" } }, "no claim"],
    [{ status: "in-flight" }, "undefined"],
    [{ status: "in-flight", retryAfterMs: Number.NaN }, "NaN"],
    [{ status: "in-flight", retryAfterMs: "30" }, '"30"'],
    [{ status: "in-flight", retryAfterMs: -1 }, "-1"],
  ];
  for (const [answer, said] of answers) {
    const handler = vi.fn();
    const store = storeWith({ claim: async () => answer as ClaimResult });
    await expect(wrapClaiming(store, handler, { waitMs: 5 })(message("a"))).rejects.toMatchObject({
      name: "StoreError",
      operation: "claim",
      id: "a",
      message: expect.stringContaining(said),
    });
    expect(handler).not.toHaveBeenCalled();
  }
});
