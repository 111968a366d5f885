import fc from "fast-check";

/** A message as it is handed over, and the id that a reader finds in it the first time. */
export interface Hostile {
  readonly message: unknown;
  readonly id: string | undefined;
  /** How often its id was read; only of messages that count. */
  readonly reads?: () => number;
}

const thrown = () => {
  throw new Error("trap");
};

export function revoked(target: object = {}): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Answers every look at it with an error. */
export const untouchable: object = new Proxy(
  {},
  { get: thrown, has: thrown, ownKeys: thrown, getPrototypeOf: thrown, getOwnPropertyDescriptor: thrown },
);

/** Made by a function, for fast-check looks into the values that it generates, and these do not bear it. */
type Made<T> = () => T;

const always =
  <T>(value: T): Made<T> =>
  () =>
    value;

const oddities: fc.Arbitrary<Made<unknown>> = fc.constantFrom<Made<unknown>>(
  always(untouchable),
  () => revoked(),
  () => revoked([]),
  () => revoked(() => {}),
  () => new Proxy({}, { get: () => untouchable }),
  always(Symbol("id")),
  always(Symbol.iterator),
  always(() => "id"),
  () => class Message {},
  () => new Map([["meta", { id: "in a map" }]]),
  () => new String("boxed"),
  () => Object.create(null),
  () => globalThis,
  always(10n ** 400n),
  () => ({ toString: thrown, valueOf: thrown, [Symbol.toPrimitive]: thrown }),
);

const usable = fc.oneof(
  // Few, so that messages repeat.
  { weight: 4, arbitrary: fc.constantFrom("a", "A", "a ", "é", "e\u0301", "__proto__", "constructor", "\0") },
  { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom("\ud800", "sha256:", "x".repeat(100_000), "-1", "null", "then") },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1 })
      .map((units) => String.fromCharCode(...units)),
  },
);

const nested = fc.anything({
  maxDepth: 2,
  maxKeys: 3,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withNullPrototype: true,
  withSparseArray: true,
});

const unusable: fc.Arbitrary<Made<unknown>> = fc.oneof(
  fc.constantFrom("", null, undefined, 0, Number.NaN, true, 7n).map(always),
  nested.map((value) => always(isUsable(value) ? "" : value)),
  oddities,
);

/** A thousand objects deep. */
function deep(id: unknown): object {
  let data: object = {};
  for (let depth = 0; depth < 1_000; depth++) data = { data };
  return { ...data, meta: { id } };
}

/** What holds the id, in the ways in which an object can come by a property. */
const holders: readonly ((id: unknown) => unknown)[] = [
  (id) => ({ meta: { id } }),
  (id) => Object.freeze({ meta: Object.freeze({ id }) }),
  (id) => Object.create({ meta: { id } }),
  (id) => Object.assign(Object.create(null), { meta: Object.assign(Object.create(null), { id }) }),
  (id) => ({ meta: Object.defineProperty({}, "id", { value: id }) }),
  (id) => ({ meta: Object.assign(() => {}, { id }) }),
  (id) => Object.assign([], { meta: { id } }),
  (id) => Object.assign(new Error("message"), { meta: { id } }),
  (id) => ({ meta: { id }, toJSON: thrown, [Symbol.toPrimitive]: thrown }),
  deep,
  (id) => {
    const circle: Record<string, unknown> = { meta: { id } };
    circle.meta = Object.assign({}, circle.meta, { circle });
    return circle;
  },
];

/** Answers its id once, and with something else ever after. */
function stateful(first: unknown, later: unknown): Hostile {
  let reads = 0;
  const meta = {
    get id() {
      reads += 1;
      return reads % 2 === 1 ? first : later;
    },
  };
  return { message: { meta }, id: isUsable(first) ? first : undefined, reads: () => reads };
}

/** Messages that let nobody look at their id. */
const guarded: readonly Made<object>[] = [
  () => Object.defineProperty({}, "meta", { get: thrown }),
  () => ({ meta: Object.defineProperty({}, "id", { get: thrown }) }),
  () => ({ meta: untouchable }),
];

const anyId: fc.Arbitrary<Made<unknown>> = fc.oneof(usable.map(always), unusable);

/** Messages of every make, with the id that is to be found. */
export const hostile: fc.Arbitrary<Made<Hostile>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(usable, fc.constantFrom(...holders)).map(([id, hold]) => () => ({
      message: hold(id),
      id,
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(unusable, fc.constantFrom(...holders)).map(([id, hold]) => () => ({
      message: hold(id()),
      id: undefined,
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(anyId, anyId).map(
      ([first, later]) =>
        () =>
          stateful(first(), later()),
    ),
  },
  { weight: 1, arbitrary: oddities.map((message) => () => ({ message: message(), id: undefined })) },
  { weight: 1, arbitrary: nested.map((message) => () => ({ message, id: foundIn(message) })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...guarded).map((message) => () => ({ message: message(), id: undefined })),
  },
);

function foundIn(message: unknown): string | undefined {
  const id = (message as { meta?: { id?: unknown } } | null | undefined)?.meta?.id;
  return isUsable(id) ? id : undefined;
}

/** What a handler may throw. */
export const failure: fc.Arbitrary<Made<unknown>> = fc.oneof(
  fc
    .constantFrom(new Error("declined"), undefined, null, 0, "", Object.freeze({ code: "BQ_STORE_FAILED" }))
    .map(always),
  oddities,
);

/** The message behind a proxy that notes every attempt to change it or what it holds. */
export function watched(message: unknown, changes: string[]): unknown {
  if ((typeof message !== "object" && typeof message !== "function") || message === null) return message;
  const noted = (name: string) => () => {
    changes.push(name);
    return false;
  };
  return new Proxy(message, {
    set: noted("set"),
    defineProperty: noted("defineProperty"),
    deleteProperty: noted("deleteProperty"),
    setPrototypeOf: noted("setPrototypeOf"),
    preventExtensions: noted("preventExtensions"),
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return name === "meta" && !Object.isFrozen(target) ? watched(value, changes) : value;
    },
  });
}

function isUsable(id: unknown): id is string {
  return typeof id === "string" && id !== "";
}
