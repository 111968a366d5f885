import { expect, it } from "vitest";
import { InMemoryStore, isBatchStore, isClaimingStore, isTransactionalStore } from "../src/index.ts";

function withClock(options: { ttlMs?: number; maxEntries?: number } = {}) {
  const clock = { ms: 1_000 };
  return { clock, store: new InMemoryStore({ ...options, now: () => clock.ms }) };
}

it("declares what it can do by its methods", () => {
  const store = new InMemoryStore();
  expect([isBatchStore(store), isClaimingStore(store), isTransactionalStore(store)]).toEqual([
    true,
    true,
    false,
  ]);
});

it("a string is no list of ids: it is refused instead of taken for its characters", () => {
  const store = new InMemoryStore();
  for (const ids of ["xyz", undefined, new Set(["x"]), { length: 1, 0: "x" }] as never[]) {
    expect(() => store.rememberMany(ids)).toThrow(/^Ids must come as an array of strings, got /);
    expect(() => store.seenMany(ids)).toThrow(TypeError);
  }
  expect(store.size).toBe(0);
});

it("a mark lives exactly its TTL, and remember starts it anew", () => {
  const { clock, store } = withClock({ ttlMs: 100 });
  store.remember("a");
  clock.ms += 60;
  store.remember("a");
  clock.ms += 99;
  expect(store.seen("a")).toBe(true);
  clock.ms += 1;
  expect(store.seen("a")).toBe(false);
});

it("expired marks are dropped while others are written, faster than they come in", () => {
  const { clock, store } = withClock({ ttlMs: 100 });
  for (let n = 0; n < 1_000; n++) store.remember(`old-${n}`);
  clock.ms += 100;
  for (let n = 0; n < 600; n++) store.remember(`new-${n}`);
  expect(store.size).toBe(600);
});

it("past maxEntries the oldest mark goes first, and one that was renewed counts as new", () => {
  const { store } = withClock({ maxEntries: 3 });
  for (const id of ["a", "b", "c", "a", "d"]) store.remember(id);
  expect(store.seenMany(["a", "b", "c", "d"])).toEqual([true, false, true, true]);
  store.remember("e");
  expect(store.seenMany(["a", "c", "d", "e"])).toEqual([true, false, true, true]);
});

it("renewing a mark takes nobody's room, and it becomes the newest", () => {
  const { store } = withClock({ maxEntries: 3 });
  for (const id of ["a", "b", "c", "c"]) store.remember(id);
  expect(store.seenMany(["a", "b", "c"])).toEqual([true, true, true]);
  const { store: roomy } = withClock({ maxEntries: 3 });
  for (const id of ["a", "b", "a", "c", "d"]) roomy.remember(id);
  expect(roomy.seenMany(["a", "b", "c", "d"])).toEqual([true, false, true, true]);
});

it("renewing the oldest mark after it was looked at does not make it go", () => {
  const { store } = withClock({ maxEntries: 2 });
  store.remember("a");
  store.remember("b");
  store.remember("a");
  store.remember("c");
  expect(store.seenMany(["a", "b", "c"])).toEqual([true, false, true]);
});

it("claims never go for lack of room, and do not count", () => {
  const { store } = withClock({ maxEntries: 1 });
  const held = store.claim("held", 1_000);
  for (const id of ["a", "b", "c"]) store.remember(id);
  expect(store.claim("held", 1_000)).toEqual({ status: "in-flight", retryAfterMs: 1_000 });
  expect(held.status === "claimed" && store.commit(held.claim)).toBe(true);
});

it("a forgotten mark that was the oldest leaves the order of the others intact", () => {
  const { store } = withClock({ maxEntries: 3 });
  for (const id of ["a", "b", "c"]) store.remember(id);
  store.forget("a");
  for (const id of ["d", "e"]) store.remember(id);
  expect(store.seenMany(["a", "b", "c", "d", "e"])).toEqual([false, false, true, true, true]);
});

it("rememberMany with an unusable id writes none", () => {
  const store = new InMemoryStore();
  expect(() => store.rememberMany(["a", "", "b"])).toThrow(TypeError);
  expect(store.seenMany(["a", "b"])).toEqual([false, false]);
});

it("claims that lapsed are dropped, so that workers that vanished do not fill the memory", () => {
  const { clock, store } = withClock();
  for (let n = 0; n < 5_000; n++) {
    store.claim(`vanished-${n}`, 10);
    clock.ms += 1;
  }
  // Only a claim that still stands can be renewed: the last ten at most.
  expect(store.claim("vanished-4999", 10).status).toBe("in-flight");
  expect(store.claim("vanished-1", 10).status).toBe("claimed");
});

it("a mark costs the same whether there are few or many to make room among", () => {
  const time = (store: InMemoryStore) => {
    const startedAt = performance.now();
    for (let n = 0; n < 5_000; n++) store.remember(`new-${n}`);
    return performance.now() - startedAt;
  };
  const best = (make: () => InMemoryStore) => Math.min(...[1, 2, 3].map(() => time(make())));
  const full = () => {
    const store = new InMemoryStore({ maxEntries: 50_000 });
    for (let n = 0; n < 50_000; n++) store.remember(`old-${n}`);
    return store;
  };
  // Looking for the oldest mark from the front of the Map each time would take a hundred times as long.
  expect(best(full)).toBeLessThan(best(() => new InMemoryStore()) * 20);
});
