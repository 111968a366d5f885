import { expect, it, vi } from "vitest";
import { type IdempotencyEvent, InMemoryStore, wrap } from "../src/index.ts";
import { message } from "./stores.ts";

const throwing = {
  get meta(): never {
    throw new Error("no such field");
  },
};

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
