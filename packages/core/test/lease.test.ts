import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  type Awaitable,
  type ClaimContext,
  ClaimLostError,
  type IdempotencyEvent,
  InMemoryStore,
  wrapClaiming,
} from "../src/index.ts";
import { message } from "./stores.ts";

const leaseMs = 3_000;

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

/** A delivery of "a" whose handler ends when it is told to, on a store whose renewals go as `renew` says. */
function start(
  renew?: (store: InMemoryStore, ...given: Parameters<InMemoryStore["renew"]>) => Awaitable<boolean>,
) {
  const store = new InMemoryStore();
  const claiming = {
    seen: (id: string) => store.seen(id),
    remember: (id: string) => store.remember(id),
    forget: (id: string) => store.forget(id),
    claim: (id: string, ms: number) => store.claim(id, ms),
    renew: vi.fn((...given: Parameters<InMemoryStore["renew"]>) =>
      renew ? renew(store, ...given) : store.renew(...given),
    ),
    commit: vi.fn((claim: Parameters<InMemoryStore["commit"]>[0]): Awaitable<boolean> => store.commit(claim)),
    release: vi.fn((claim: Parameters<InMemoryStore["release"]>[0]) => store.release(claim)),
  };
  const events: IdempotencyEvent[] = [];
  let end = (_error?: Error) => {};
  let context: ClaimContext | undefined;
  const handler = (_message: object, given: ClaimContext) => {
    context = given;
    return new Promise<string>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve("done"));
    });
  };
  const deliver = wrapClaiming(claiming, handler, {
    leaseMs,
    storeTimeoutMs: 500,
    observe: (event) => events.push(event),
  });
  const outcome = deliver(message("a")).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const started = async () => {
    // By turns of the microtask queue alone, so that no time passes.
    while (context === undefined) await Promise.resolve();
    return context as ClaimContext;
  };
  return { store, claiming, events, outcome, started, end: (error?: Error) => end(error) };
}

it("the claim is renewed every third of the lease, as long as the handler runs", async () => {
  const { store, claiming, outcome, started, end } = start();
  const { signal } = await started();
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(claiming.renew).toHaveBeenCalledTimes(30);
  expect(store.claim("a", 1).status).toBe("in-flight");
  end();
  expect(await outcome).toEqual({ value: "done" });
  expect([signal.aborted, store.seen("a"), vi.getTimerCount()]).toEqual([false, true, 0]);
});

it("a renewal that fails is tried again until it works, and nothing was lost", async () => {
  let failures = 0;
  const { events, outcome, started, end, store } = start((store, claim, ms) => {
    if (failures++ < 5) throw new Error("store away");
    return store.renew(claim, ms);
  });
  const { signal, assertHeld } = await started();
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect(signal.aborted).toBe(false);
  expect(() => assertHeld()).not.toThrow();
  expect(store.claim("a", 1).status).toBe("in-flight");
  end();
  await outcome;
  expect(events.map(({ type }) => type)).toEqual(["ran"]);
});

it("when the store stays away until the lease is over, the signal aborts with the loss, and the event says why", async () => {
  const cause = new Error("store away");
  const { claiming, events, outcome, started, end } = start(() => Promise.reject(cause));
  const { signal, assertHeld } = await started();
  const aborted = vi.fn();
  signal.addEventListener("abort", aborted);
  await vi.advanceTimersByTimeAsync(leaseMs - 10);
  expect(aborted).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20);
  expect(aborted).toHaveBeenCalledTimes(1);
  expect(signal.reason).toBeInstanceOf(ClaimLostError);
  expect(signal.reason).toMatchObject({ code: "BQ_CLAIM_LOST", id: "a", cause });
  expect(() => assertHeld()).toThrow(signal.reason);
  const renewals = claiming.renew.mock.calls.length;
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(claiming.renew).toHaveBeenCalledTimes(renewals);
  end();
  expect(await outcome).toEqual({ value: "done" });
  expect(events.map(({ type }) => type)).toEqual(["claim-lost", "ran"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("a renewal that the store never answers is tried again, and does not outlive the lease", async () => {
  const { claiming, events, outcome, started, end } = start(() => new Promise<boolean>(() => {}));
  const { signal } = await started();
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + 600);
  expect(claiming.renew.mock.calls.length).toBeGreaterThan(1);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(signal.aborted).toBe(true);
  end();
  await outcome;
  expect(events.map(({ type }) => type)).toEqual(["claim-lost", "ran"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("a late answer to a renewal still counts", async () => {
  const answers: ((renewed: boolean) => void)[] = [];
  const { started, outcome, end } = start(() => new Promise<boolean>((resolve) => answers.push(resolve)));
  const { signal } = await started();
  // Sent after 1 000 ms, answered after 2 900 ms: it holds until 4 000 ms.
  await vi.advanceTimersByTimeAsync(2_900);
  answers[0]?.(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(signal.aborted).toBe(true);
  end();
  await outcome;
});

it("a lease counts from before its renewal was sent, never from its answer", async () => {
  let slow = true;
  const { started, outcome, end } = start(async (store, claim, ms) => {
    if (!slow) throw new Error("store away");
    slow = false;
    const renewed = store.renew(claim, ms);
    await new Promise((resolve) => setTimeout(resolve, 400));
    return renewed;
  });
  const { assertHeld } = await started();
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + leaseMs - 5);
  expect(() => assertHeld()).not.toThrow();
  await vi.advanceTimersByTimeAsync(10);
  expect(() => assertHeld()).toThrow(ClaimLostError);
  end();
  await outcome;
});

it("a claim that another took is told at the next renewal, and the late worker cannot drop the other's claim", async () => {
  const { store, events, outcome, started, end } = start();
  const { signal } = await started();
  store.forget("a");
  expect(store.claim("a", 60_000).status).toBe("claimed");
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + 5);
  expect(signal.aborted).toBe(true);
  end(new Error("stopped"));
  expect(await outcome).toEqual({ error: new Error("stopped") });
  expect(store.claim("a", 1).status).toBe("in-flight");
  expect(events.map(({ type }) => type)).toEqual(["claim-lost", "failed"]);
});

it("a renewal under way while the handler ends raises no false loss and leaves no timer", async () => {
  const answers: ((renewed: boolean) => void)[] = [];
  const { claiming, events, outcome, started, end } = start(
    () => new Promise<boolean>((resolve) => answers.push(resolve)),
  );
  const { signal } = await started();
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + 5);
  expect(claiming.renew).toHaveBeenCalledTimes(1);
  end();
  expect(await outcome).toEqual({ value: "done" });
  answers[0]?.(false);
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect(signal.aborted).toBe(false);
  expect(events.map(({ type }) => type)).toEqual(["ran"]);
  expect([claiming.renew.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
});

it("a signal that is asked for after the loss is aborted already", async () => {
  const { outcome, started, end } = start(() => false);
  const context = await started();
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(context.signal.aborted).toBe(true);
  expect(context.signal.reason).toBeInstanceOf(ClaimLostError);
  end();
  await outcome;
});

it("after a handler that failed nothing is renewed any more", async () => {
  const { claiming, outcome, started, end } = start();
  await started();
  end(new Error("declined"));
  await outcome;
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect([claiming.renew.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});

it("a computation that blocks the event loop past its lease learns it from assertHeld", async () => {
  vi.useRealTimers();
  const events: string[] = [];
  const deliver = wrapClaiming(
    new InMemoryStore(),
    (_message: object, { assertHeld, signal }) => {
      const blockedUntil = performance.now() + 30;
      while (performance.now() < blockedUntil);
      expect(signal.aborted).toBe(false);
      assertHeld();
    },
    { leaseMs: 20, observe: ({ type }) => events.push(type) },
  );
  await expect(deliver(message("a"))).rejects.toThrow(ClaimLostError);
  expect(events).toEqual(["claim-lost", "failed"]);
});

it("while a slow mark is being written the claim is still renewed, and a renewal that finds the mark is no loss", async () => {
  const { claiming, events, outcome, store, started, end } = start();
  await started();
  let answer = () => {};
  claiming.commit.mockImplementationOnce((claim) => {
    // Too slow for the first attempt's time limit; the second answers at once.
    return new Promise((resolve) => {
      answer = () => resolve(store.commit(claim));
    });
  });
  end();
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + 10);
  expect(claiming.renew).toHaveBeenCalled();
  answer();
  expect(await outcome).toEqual({ value: "done" });
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect(events.map(({ type }) => type)).toEqual(["ran"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("a renewal that finds the mark whose answer has not come yet raises no false loss", async () => {
  const { claiming, events, outcome, store, started, end } = start();
  await started();
  claiming.commit.mockImplementationOnce((claim) => {
    store.commit(claim);
    return new Promise(() => {});
  });
  end();
  await vi.advanceTimersByTimeAsync(leaseMs / 3 + 10);
  expect(claiming.renew).toHaveReturnedWith(false);
  expect(await outcome).toEqual({ value: "done" });
  expect(events.map(({ type }) => type)).toEqual(["ran"]);
  expect(vi.getTimerCount()).toBe(0);
});
