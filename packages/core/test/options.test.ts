import { expect, it } from "vitest";
import {
  type ClaimingStore,
  InMemoryStore,
  type TransactionalStore,
  wrap,
  wrapBatch,
  wrapClaiming,
  wrapTransactional,
} from "../src/index.ts";

const store = new InMemoryStore();
const transactional: TransactionalStore<null> = {
  ...({ seen: () => false, remember: () => {}, forget: () => {} } as const),
  transact: async () => ({ status: "processed" }),
  within: () => store,
};
const anything = (options: unknown) => options as never;
const wrappers = {
  wrap: (options?: unknown) => wrap(store, () => {}, anything(options)),
  wrapBatch: (options?: unknown) => wrapBatch(store, () => {}, anything(options)),
  wrapClaiming: (options?: unknown) => wrapClaiming(store, () => {}, anything(options)),
  wrapTransactional: (options?: unknown) => wrapTransactional(transactional, () => {}, anything(options)),
};

for (const [name, make] of Object.entries(wrappers)) {
  it(`${name} refuses bad options at construction, naming the option and the value`, () => {
    expect(() => make({ leasMs: 5 })).toThrow(
      new RegExp(`^${name}: unknown option "leasMs"\\. Known options: key, observe`),
    );
    for (const options of [null, 5, "fast", [], true]) expect(() => make(options)).toThrow(TypeError);
    for (const storeTimeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 31]) {
      expect(() => make({ storeTimeoutMs })).toThrow(RangeError);
      expect(() => make({ storeTimeoutMs })).toThrow(
        `${name}: storeTimeoutMs must be a whole number from 1 to 2147483647`,
      );
      expect(() => make({ storeTimeoutMs })).toThrow(`got ${storeTimeoutMs}`);
    }
    expect(() => make({ storeTimeoutMs: "5s" })).toThrow(/^wrap\w*: storeTimeoutMs must be .*, got "5s"\.$/);
    for (const key of ["id", {}, 5]) expect(() => make({ key })).toThrow(TypeError);
    expect(() => make({ observe: "log" })).toThrow(/observe must be a function, got "log"/);
  });

  it(`${name} takes undefined for any option as its default`, () => {
    expect(() => make()).not.toThrow();
    expect(() => make({ key: undefined, observe: undefined, storeTimeoutMs: undefined })).not.toThrow();
  });
}

for (const name of ["wrap", "wrapBatch", "wrapClaiming"] as const) {
  it(`${name} refuses unknown words and counts out of range`, () => {
    const make = wrappers[name];
    expect(() => make({ onStoreFailure: "ignore" })).toThrow(
      /onStoreFailure must be "throw" or "run", got "ignore"/,
    );
    expect(() => make({ onMarkFailure: true })).toThrow(/onMarkFailure must be "ack" or "throw", got true/);
    for (const markAttempts of [0, -1, 1.5, Number.NaN])
      expect(() => make({ markAttempts })).toThrow(RangeError);
  });
}

it("a lease that would be none is refused, never read as no lease", () => {
  for (const leaseMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 0.5, 2 ** 31]) {
    expect(() => wrappers.wrapClaiming({ leaseMs })).toThrow(RangeError);
  }
  expect(() => wrappers.wrapClaiming({ leaseMs: "30s" })).toThrow(TypeError);
  expect(() => wrappers.wrapClaiming({ waitMs: -1 })).toThrow(RangeError);
  expect(() => wrappers.wrapClaiming({ waitMs: 0 })).not.toThrow();
  expect(() => wrappers.wrapClaiming({ maxWaiters: 0 })).toThrow(RangeError);
});

it("a batch needs at least one handler at a time", () => {
  for (const concurrency of [0, -1, 1.5, Number.NaN])
    expect(() => wrappers.wrapBatch({ concurrency })).toThrow(RangeError);
});

it("a transaction has no mark that could fail alone, so those options are unknown there", () => {
  for (const option of ["markAttempts", "onMarkFailure", "onStoreFailure"]) {
    expect(() => wrappers.wrapTransactional({ [option]: undefined })).toThrow(TypeError);
  }
});

it("options are read once: changing them later changes nothing", async () => {
  const options = { key: (sent: { n: string }) => sent.n };
  const deliver = wrap(new InMemoryStore(), () => "ran", options);
  options.key = () => "always the same";
  expect([await deliver({ n: "1" }), await deliver({ n: "2" })]).toEqual(["ran", "ran"]);
});

it("a store without the methods that a wrapper calls is refused, and they are named", () => {
  const plain = { seen: () => false, remember: () => {}, forget: () => {} };
  const claiming = plain as unknown as ClaimingStore;
  expect(() => wrap({ seen: () => false } as never, () => {})).toThrow(
    /^wrap: the store has no method remember, forget/,
  );
  expect(() => wrap(undefined as never, () => {})).toThrow(TypeError);
  expect(() => wrapClaiming(claiming, () => {})).toThrow(
    /^wrapClaiming: the store has no method claim, renew, commit, release/,
  );
  expect(() => wrapTransactional(plain as never, () => {})).toThrow(/no method transact/);
  expect(() => wrap(store, "handler" as never)).toThrow(
    /^wrap: the handler must be a function, got "handler"/,
  );
});

it("InMemoryStore refuses bad options, naming the option and the value", () => {
  for (const ttlMs of [0, -5, Number.NaN, Number.POSITIVE_INFINITY, 1e18])
    expect(() => new InMemoryStore({ ttlMs })).toThrow(RangeError);
  expect(() => new InMemoryStore({ maxEntries: 0 })).toThrow(/InMemoryStore: maxEntries must be .*, got 0/);
  expect(() => new InMemoryStore({ now: 5 as never })).toThrow(TypeError);
  expect(() => new InMemoryStore({ ttl: 5 } as never)).toThrow(/unknown option "ttl"\. Known options: ttlMs/);
});
