import { expect, test, vi } from "vitest";
import { observeAll } from "../src/observe/observe-all.ts";

test("an observer that throws or rejects keeps nothing from those behind it", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const told = vi.fn();
  const event = { type: "ran", id: "a", durationMs: 1 } as const;
  const thrower = () => {
    throw new Error("full");
  };
  observeAll(thrower, async () => thrower(), told)(event);
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect(told).toHaveBeenCalledExactlyOnceWith(event);
  expect(unhandled).not.toHaveBeenCalled();
});
