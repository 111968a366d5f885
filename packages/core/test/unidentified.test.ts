import { afterEach, beforeEach, expect, it, type MockInstance, vi } from "vitest";
import { type IdempotencyEvent, InMemoryStore, wrap, wrapBatch, wrapClaiming } from "../src/index.ts";
import { message } from "./stores.ts";

const throwing = {
  get meta(): never {
    throw new Error("no such field");
  },
};

let warn: MockInstance<typeof process.emitWarning>;

beforeEach(() => {
  warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
});

afterEach(() => vi.restoreAllMocks());

it("without an observer each wrapper warns once that a message was processed unguarded", async () => {
  const store = new InMemoryStore();
  const [first, second] = [wrap(store, () => {}), wrapClaiming(store, () => {})];
  for (let delivery = 0; delivery < 3; delivery++) {
    await first(message("a"));
    await first({ meta: {} });
    await second({ meta: {} });
  }
  await wrapBatch(store, () => {})([throwing, {}]);
  expect(warn.mock.calls.map(([text]) => String(text).split(" a message")[0])).toEqual([
    "wrap:",
    "wrapClaiming:",
    "wrapBatch:",
  ]);
  expect(warn.mock.calls[0]?.[1]).toEqual({ type: "IdempotencyWarning", code: "BQ_UNIDENTIFIED" });
  expect(String(warn.mock.calls[2]?.[0])).toContain("Reading it failed: no such field.");
});

it("with an observer it is told of each, and nothing is warned of", async () => {
  const types: string[] = [];
  const deliver = wrap(new InMemoryStore(), () => {}, { observe: ({ type }) => types.push(type) });
  for (let delivery = 0; delivery < 2; delivery++) await deliver({});
  expect(types).toEqual(["unidentified", "unidentified"]);
  expect(warn).not.toHaveBeenCalled();
});

for (const [what, value] of [
  ["no meta", {}],
  ["a null meta", { meta: null }],
  ["a text as meta", { meta: "id" }],
  ["no id", { meta: {} }],
  ["an empty id", message("")],
  ["a number as id", message(7)],
  ["null as id", message(null)],
  ["an object as id", message({ toString: () => "a" })],
  ["a String object as id", message(new String("a"))],
  ["a meta that throws", throwing],
  ["no fields at all, being null", null],
  ["no fields at all, being undefined", undefined],
  ["no fields at all, being a number", 5],
] as const) {
  it(`a message with ${what} runs on every delivery and leaves no mark`, async () => {
    const store = new InMemoryStore();
    const handler = vi.fn(() => "ran");
    const deliver = wrap(store, handler) as (message: unknown) => Promise<unknown>;
    expect([await deliver(value), await deliver(value)]).toEqual(["ran", "ran"]);
    expect(handler).toHaveBeenCalledTimes(2);
    expect(store.size).toBe(0);
  });
}

it("`key` reads the id of any other shape", async () => {
  const handler = vi.fn();
  const deliver = wrap(new InMemoryStore(), handler as (job: { jobId: string }) => void, {
    key: (job) => job.jobId,
  });
  for (const jobId of ["1", "2", "1"]) await deliver({ jobId });
  expect(handler).toHaveBeenCalledTimes(2);
});

it("a `key` that throws leaves the message unguarded, and the event says why", async () => {
  const error = new TypeError("no job");
  const events: IdempotencyEvent[] = [];
  const deliver = wrap(new InMemoryStore(), () => "ran", {
    key: () => {
      throw error;
    },
    observe: (event) => events.push(event),
  });
  expect(await deliver({})).toBe("ran");
  expect(events).toEqual([{ type: "unidentified", durationMs: expect.any(Number), error }]);
});

it("a promise of an id is no id: the handler runs unguarded, the event says why, and a rejection is handled", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const handler = vi.fn();
  const events: IdempotencyEvent[] = [];
  for (const promise of [() => Promise.resolve("a"), () => Promise.reject(new Error("no such field"))]) {
    const key = promise as unknown as () => string;
    await wrap(new InMemoryStore(), handler, { key, observe: (event) => events.push(event) })({});
  }
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect([handler.mock.calls.length, unhandled.mock.calls.length]).toEqual([2, 0]);
  const unidentified = { type: "unidentified", durationMs: expect.any(Number), error: expect.any(TypeError) };
  expect(events).toEqual([unidentified, unidentified]);
});
