import { afterEach, expect, it, vi } from "vitest";
import { type IdempotencyEvent, wrap } from "../src/index.ts";
import { failing, message, silent } from "./stores.ts";

afterEach(() => vi.restoreAllMocks());

it("remember that fails twice and then works leaves one mark and no second run", async () => {
  const store = failing({ remember: 2 });
  const handler = vi.fn(() => "ran");
  const events: string[] = [];
  const deliver = wrap(store, handler, { observe: ({ type }) => events.push(type) });
  expect(await deliver(message("a"))).toBe("ran");
  expect(await deliver(message("a"))).toBeUndefined();
  expect(handler).toHaveBeenCalledTimes(1);
  expect(store.calls.filter((name) => name === "remember")).toHaveLength(3);
  expect(events).toEqual(["ran", "skipped"]);
});

it("remember that fails for good lets the delivery succeed, and the event says so", async () => {
  const events: IdempotencyEvent[] = [];
  const deliver = wrap(failing({ remember: 3 }), () => "ran", { observe: (event) => events.push(event) });
  expect(await deliver(message("a"))).toBe("ran");
  expect(events).toEqual([
    { type: "ran", id: "a", durationMs: expect.any(Number) },
    {
      type: "mark-failed",
      id: "a",
      durationMs: expect.any(Number),
      error: expect.objectContaining({ code: "BQ_STORE_FAILED", operation: "remember" }),
    },
  ]);
});

it("with onMarkFailure throw it fails the delivery with the store's error", async () => {
  const deliver = wrap(failing({ remember: 9 }), () => "ran", { onMarkFailure: "throw", observe: () => {} });
  await expect(deliver(message("a"))).rejects.toMatchObject({
    code: "BQ_STORE_FAILED",
    operation: "remember",
  });
});

it("markAttempts says how often the mark is tried", async () => {
  const store = failing({ remember: 9 });
  await wrap(store, () => {}, { markAttempts: 1, observe: () => {} })(message("a"));
  expect(store.calls).toEqual(["seen", "remember"]);
});

it("a store that hangs at remember does not hang the delivery", async () => {
  const events: string[] = [];
  const store = { ...silent, seen: () => false };
  const observe = ({ type }: IdempotencyEvent) => events.push(type);
  expect(await wrap(store, () => "ran", { storeTimeoutMs: 10, markAttempts: 2, observe })(message("a"))).toBe(
    "ran",
  );
  expect(events).toEqual(["ran", "mark-failed"]);
});

it("without an observer a mark that failed is a process warning", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  await wrap(failing({ remember: 9 }), () => {}, { markAttempts: 1 })(message("a"));
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('"a"'), {
    type: "IdempotencyWarning",
    code: "BQ_MARK_FAILED",
  });
});
