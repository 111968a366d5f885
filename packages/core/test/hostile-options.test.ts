import fc from "fast-check";
import { expect, it } from "vitest";
import { InMemoryStore, wrap, wrapBatch, wrapClaiming, wrapTransactional } from "../src/index.ts";
import { revoked, untouchable } from "./hostile.ts";

const whole = (min: number, max: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const word =
  (...words: string[]) =>
  (value: unknown) =>
    words.includes(value as string);
const callable = (value: unknown) => typeof value === "function";
const timer = 2_147_483_647;

type Rules = Readonly<Record<string, (value: unknown) => boolean>>;

const ofTransactions: Rules = { key: callable, observe: callable, storeTimeoutMs: whole(1, timer) };
const ofAll: Rules = {
  ...ofTransactions,
  onStoreFailure: word("throw", "run"),
  markAttempts: whole(1, 100),
  onMarkFailure: word("ack", "throw"),
};
const ofClaims: Rules = {
  ...ofAll,
  leaseMs: whole(1, timer),
  waitMs: whole(0, timer),
  maxWaiters: whole(1, Number.MAX_SAFE_INTEGER),
};
const ofBatches: Rules = { ...ofAll, concurrency: whole(1, Number.MAX_SAFE_INTEGER) };
const ofMemory: Rules = { ttlMs: whole(1, 3_155_760_000_000), maxEntries: whole(1, 2 ** 24), now: callable };

const store = Object.assign(new InMemoryStore(), { transact() {}, within() {} });
type Make = (options: unknown) => unknown;
const makers: readonly [name: string, rules: Rules, make: Make][] = [
  ["wrap", ofAll, (options) => wrap(store, () => {}, options as never)],
  ["wrapClaiming", ofClaims, (options) => wrapClaiming(store, () => {}, options as never)],
  ["wrapBatch", ofBatches, (options) => wrapBatch(store, () => {}, options as never)],
  [
    "wrapTransactional",
    ofTransactions,
    (options) => wrapTransactional(store as never, () => {}, options as never),
  ],
  ["InMemoryStore", ofMemory, (options) => new InMemoryStore(options as never)],
];

/** Made by a function: fast-check looks into what it generates, and some of these do not bear it. */
const value: fc.Arbitrary<() => unknown> = fc.oneof(
  fc
    .oneof(
      fc.integer({ min: -2, max: 120 }),
      fc.constantFrom(timer, timer + 1, 2 ** 24, 2 ** 53, 0.5, -0, Number.NaN, Infinity, 10n, "30s", "1"),
      fc.constantFrom("throw", "run", "ack", "", " throw", "__proto__", true, null, undefined),
      fc.double(),
      fc.anything({ maxDepth: 1 }),
    )
    .map((plain) => () => plain),
  fc.constantFrom<() => unknown>(
    () => () => "a",
    () => untouchable,
    () => revoked(),
    () => revoked([]),
    () => Symbol("30"),
    () => new Number(30),
    () => ({ valueOf: () => 30 }),
    () => Object.create(null),
  ),
);

const names = [...new Set(makers.flatMap(([, rules]) => Object.keys(rules)))];
const given = fc.array(
  fc.tuple(fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...names) }, fc.string()), value, fc.nat(9)),
  { maxLength: 4 },
);

/** An error of ours, naming one of these; the error's text must not depend on what the value does when it is looked at. */
function refusal(error: unknown, owner: string, named: readonly string[]): void {
  const said = error instanceof TypeError || error instanceof RangeError ? error.message : String(error);
  const right =
    said.startsWith(`${owner}: `) &&
    named.some((name) => said.includes(JSON.stringify(name)) || said.includes(`${name} `));
  if (!right) throw new Error(`refused with ${said} instead of naming one of ${named.join(", ")}`);
}

it("options are taken when each of them is right, and otherwise refused at construction by the name of a wrong one", {
  timeout: 60_000,
}, () => {
  let refused = 0;
  let taken = 0;
  const property = fc.property(fc.constantFrom(...makers), given, ([owner, rules, make], list) => {
    const options: Record<string, unknown> = Object.create(null);
    const wrong = new Map<string, boolean>();
    for (const [name, makeValue, kind] of list) {
      const one = makeValue();
      const throws = kind === 0;
      const get = () => {
        if (throws) throw new Error("getter");
        return one;
      };
      Object.defineProperty(options, name, { get, enumerable: true, configurable: true });
      const known = Object.hasOwn(rules, name);
      wrong.set(name, !known || throws || (one !== undefined && rules[name]?.(one) !== true));
    }
    const bad = [...wrong].filter(([, isWrong]) => isWrong).map(([name]) => name);
    try {
      make(options);
    } catch (error) {
      refused += 1;
      return refusal(error, owner, bad);
    }
    taken += 1;
    expect(bad).toEqual([]);
  });
  fc.assert(property, { numRuns: 20_000 });
  expect(Math.min(refused, taken)).toBeGreaterThan(2_000);
});

it("what is no options object is refused, also when it cannot even be looked at, and a promise of options too", () => {
  const hostile = [
    ...[null, 5, "fast", true, Symbol("x"), 10n, [], () => {}],
    ...[untouchable, revoked(), revoked([]), Promise.resolve({})],
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("ownKeys");
        },
      },
    ),
  ];
  for (const [owner, , make] of makers) {
    for (const options of hostile) {
      expect(() => make(options)).toThrow(TypeError);
      expect(() => make(options)).toThrow(
        new RegExp(`^${owner}: (the )?options (must be an object|cannot be read)`),
      );
    }
  }
});

it("what is no store, no handler or no array of messages is a TypeError, also when it cannot be looked at", async () => {
  for (const hostile of [untouchable, revoked(), null, 5, "store", Symbol("store")] as never[]) {
    expect(() => wrap(hostile, () => {})).toThrow(
      /^wrap: the store has no method seen, remember, forget, got /,
    );
    expect(() => wrapClaiming(hostile, () => {})).toThrow(/^wrapClaiming: the store has no method claim, /);
    expect(() => wrap(store, hostile)).toThrow(/^wrap: the handler must be a function, got /);
    await expect(wrapBatch(store, () => {})(hostile)).rejects.toThrow(/^wrapBatch: messages /);
  }
  const cut = new Proxy([1], {
    get() {
      throw new Error("cut");
    },
  });
  await expect(wrapBatch(store, () => {})(cut as never)).rejects.toThrow("messages cannot be read: cut");
});
