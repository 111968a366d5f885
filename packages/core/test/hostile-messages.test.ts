import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { InMemoryStore, wrap, wrapBatch, wrapClaiming } from "../src/index.ts";

type Deliver = (message: unknown) => Promise<unknown>;
type Make = (store: InMemoryStore, handler: () => unknown, options?: unknown) => Deliver;
const makers = [wrap, wrapClaiming] as unknown as Make[];

const id = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("__proto__", "constructor", "toString", "\ud800", "\0", " ", "sha256:"),
  fc.anything(),
);

const withTraps = fc.constantFrom<unknown>(
  new Proxy(
    {},
    {
      get: () => {
        throw new Error("get");
      },
    },
  ),
  new Proxy(
    {},
    {
      get: () =>
        new Proxy(
          {},
          {
            get: () => {
              throw new Error("deep get");
            },
          },
        ),
    },
  ),
  {
    get meta() {
      throw new Error("getter");
    },
  },
  {
    meta: {
      get id() {
        throw new Error("getter");
      },
    },
  },
  {
    meta: {
      id: {
        toString() {
          throw new Error("toString");
        },
      },
    },
  },
  Object.create(null),
  Object.freeze({ meta: Object.freeze({ id: "frozen" }) }),
  JSON.parse('{"__proto__":{"meta":{"id":"polluted"}}}'),
  Object.create({ meta: { id: "inherited" } }),
);

const message = fc.oneof(
  id.map((value) => ({ meta: { id: value } })),
  fc.record({ meta: fc.anything() }),
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
  }),
  withTraps,
);

it("no message crashes a delivery or is lost, and no mark is left by a handler that did not succeed", {
  timeout: 60_000,
}, async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  await fc.assert(
    fc.asyncProperty(message, fc.boolean(), async (sent, fails) => {
      const error = new Error("declined");
      const handler = vi.fn(() => {
        if (fails) throw error;
        return "ran";
      });
      for (const make of makers) {
        const store = new InMemoryStore();
        const deliver = make(store, handler);
        handler.mockClear();
        if (fails) {
          await expect(deliver(sent)).rejects.toBe(error);
          expect(store.size).toBe(0);
        } else {
          expect(await deliver(sent)).toBe("ran");
          expect(await deliver(sent)).toBe(store.size === 1 ? undefined : "ran");
        }
        expect(handler.mock.calls.length).toBe(fails || store.size === 1 ? 1 : 2);
      }
      const store = new InMemoryStore();
      const results = await (wrapBatch(store, handler as never) as unknown as Deliver)([sent, sent]);
      expect(results).toMatchObject(
        fails
          ? [{ outcome: "failed" }, { outcome: "failed" }]
          : [{ outcome: "ran" }, { outcome: store.size === 1 ? "skipped" : "ran" }],
      );
    }),
    { numRuns: 5_000 },
  );
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

it("no options crash a construction in another way than with a TypeError or RangeError", () => {
  const value = fc.oneof(fc.anything(), fc.double(), fc.integer(), fc.constant(undefined));
  const options = fc.oneof(
    fc.anything(),
    fc.record(
      {
        key: value,
        observe: value,
        storeTimeoutMs: value,
        onStoreFailure: value,
        markAttempts: value,
        onMarkFailure: value,
        concurrency: value,
        leaseMs: value,
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(options, (given) => {
      for (const make of [...makers, wrapBatch as unknown as Make]) {
        try {
          make(new InMemoryStore(), () => {}, given);
        } catch (error) {
          expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
          expect((error as Error).message).toMatch(/^wrap\w*: /);
        }
      }
    }),
    { numRuns: 5_000 },
  );
});
