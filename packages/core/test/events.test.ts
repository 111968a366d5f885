import { expect, it, vi } from "vitest";
import { type IdempotencyEvent, InMemoryStore, wrap } from "../src/index.ts";
import { failing, message } from "./stores.ts";

function recorded() {
  const events: IdempotencyEvent[] = [];
  return { events, observe: (event: IdempotencyEvent) => void events.push(event) };
}

it("each delivery ends in exactly one of the outcomes", async () => {
  const { events, observe } = recorded();
  const error = new Error("declined");
  const deliver = wrap(
    new InMemoryStore(),
    (sent: { meta: { id?: unknown }; fail?: boolean }) => {
      if (sent.fail) throw error;
    },
    { observe },
  );
  await deliver(message("a"));
  await deliver(message("a"));
  await deliver({ ...message("b"), fail: true }).catch(() => {});
  await deliver(message(""));
  await deliver({ ...message(""), fail: true }).catch(() => {});
  const durationMs = expect.any(Number);
  expect(events).toEqual([
    { type: "ran", id: "a", durationMs },
    { type: "skipped", id: "a", durationMs },
    { type: "failed", id: "b", durationMs, error },
    { type: "unidentified", durationMs, error: undefined },
    { type: "failed", id: undefined, durationMs, error },
  ]);
});

it("durationMs of ran is the handler's time", async () => {
  const { events, observe } = recorded();
  await wrap(new InMemoryStore(), () => new Promise((resolve) => setTimeout(resolve, 30)), { observe })(
    message("a"),
  );
  expect(events[0]?.durationMs).toBeGreaterThanOrEqual(28);
});

it("nothing that the observer throws or rejects with changes the outcome", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  for (const observe of [
    () => {
      throw new Error("observer");
    },
    () => Promise.reject(new Error("observer")),
  ]) {
    const store = new InMemoryStore();
    const deliver = wrap(store, () => "ran", { observe });
    expect(await deliver(message("a"))).toBe("ran");
    expect(await deliver(message("a"))).toBeUndefined();
    const broken = wrap(failing({ remember: 9 }), () => "ran", { observe, markAttempts: 1 });
    expect(await broken(message("a"))).toBe("ran");
  }
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
