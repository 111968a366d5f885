import { expect, it, vi } from "vitest";
import {
  type IdempotencyEvent,
  InMemoryStore,
  type Store,
  StoreError,
  StoreTimeoutError,
  wrap,
} from "../src/index.ts";
import { failing, message, silent } from "./stores.ts";

it("a store that cannot say whether the id was processed fails the delivery, and the handler has not run", async () => {
  const handler = vi.fn();
  const events: IdempotencyEvent[] = [];
  const deliver = wrap(failing({ seen: 1 }), handler, { observe: (event) => events.push(event) });
  const error = await deliver(message("a")).catch((cause) => cause);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "BQ_STORE_FAILED", name: "StoreError", operation: "seen", id: "a" });
  expect(error.cause).toEqual(new Error("seen is down"));
  expect(error.retryAfterMs).toBeGreaterThan(0);
  expect(error.message).toContain('"a"');
  expect(handler).not.toHaveBeenCalled();
  expect(events).toEqual([
    { type: "store-failed", id: "a", durationMs: expect.any(Number), error, action: "throw" },
  ]);
});

it("with onStoreFailure run the handler runs unguarded, and its mark is written all the same", async () => {
  const store = failing({ seen: 1 });
  const events: string[] = [];
  const deliver = wrap(store, () => "ran", {
    onStoreFailure: "run",
    observe: ({ type }) => events.push(type),
  });
  expect(await deliver(message("a"))).toBe("ran");
  expect(await deliver(message("a"))).toBeUndefined();
  expect(events).toEqual(["store-failed", "ran", "skipped"]);
});

it("a store that never answers fails the delivery within storeTimeoutMs, and the handler has not run", async () => {
  const handler = vi.fn();
  const deliver = wrap(silent, handler, { storeTimeoutMs: 40 });
  const startedAt = performance.now();
  const error = await deliver(message("a")).catch((cause) => cause);
  expect(error).toBeInstanceOf(StoreTimeoutError);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "BQ_STORE_TIMEOUT", operation: "seen", id: "a", timeoutMs: 40 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
  expect(handler).not.toHaveBeenCalled();
});

it("an answer that comes after the timeout changes nothing and is never an unhandled rejection", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  let fail = (_error: Error) => {};
  const late: Store = { ...silent, seen: () => new Promise((_resolve, reject) => (fail = reject)) };
  await expect(wrap(late, () => {}, { storeTimeoutMs: 5 })(message("a"))).rejects.toThrow(StoreTimeoutError);
  fail(new Error("too late"));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

for (const answer of ["f", 1, undefined, null, "true", []]) {
  it(`a store that answers seen with ${JSON.stringify(answer)} is a failing store, never a guess`, async () => {
    const handler = vi.fn();
    const store = { ...silent, seen: () => answer as unknown as boolean };
    await expect(wrap(store, handler)(message("a"))).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
    const remote = { ...silent, seen: async () => answer as unknown as boolean };
    await expect(wrap(remote, handler)(message("a"))).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
    expect(handler).not.toHaveBeenCalled();
  });
}

it("a StoreError of the store stays what it is, also one that another copy of the package made", async () => {
  const own = new StoreError("gone", { operation: "seen", code: "BQ_STORE_CLOSED", retryAfterMs: 7 });
  const foreign = Object.assign(new Error("gone"), { name: "StoreError", code: "BQ_STORE_CLOSED" });
  for (const error of [own, foreign]) {
    const store: Store = { ...silent, seen: () => Promise.reject(error) };
    await expect(wrap(store, () => {})(message("a"))).rejects.toBe(error);
  }
});

it("whatever a store throws becomes a StoreError with a readable message", async () => {
  const unprintable = Object.create(null);
  for (const cause of [undefined, null, "down", 7, new Error("ECONNRESET"), unprintable]) {
    const store: Store = {
      ...silent,
      seen: () => {
        throw cause;
      },
    };
    const error = await wrap(store, () => {})(message("a")).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.cause).toBe(cause);
    expect(error.message).toMatch(/^The store failed at seen of "a": ./);
  }
});

it("a store that answers at once allocates no timer", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const deliver = wrap(new InMemoryStore(), async () => "ran");
  await deliver(message("a"));
  await deliver(message("a"));
  expect(timers).not.toHaveBeenCalled();
  timers.mockRestore();
});
