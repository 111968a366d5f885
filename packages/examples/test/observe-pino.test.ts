import { pino } from "pino";
import { expect, test } from "vitest";
import { logDeliveries } from "../src/observe/pino.ts";
import { everyOutcome } from "./observe-scene.ts";

test("each event is a line of its own, with its id, its time, its error, and a level by its weight", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug", base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  await everyOutcome(logDeliveries(logger.child({ queue: "orders" })));

  const { info, debug, warn, error } = pino.levels.values;
  expect(lines.map(({ level, msg, id }) => [level, msg, id])).toEqual([
    [info, "delivery ran", "a"],
    [info, "delivery ran", "b"],
    [debug, "delivery skipped", "a"],
    [info, "delivery parked", "in flight"],
    [error, "delivery failed", "bad"],
    [warn, "delivery unidentified", undefined],
    [error, "delivery store-failed", "c"],
    [info, "delivery ran", "d"],
    [error, "delivery mark-failed", "d"],
  ]);
  for (const { queue, durationMs } of lines) {
    expect(queue).toBe("orders");
    expect(durationMs).toBeGreaterThanOrEqual(0);
  }
  expect(lines[3]).toMatchObject({ retryAfterMs: expect.any(Number) });
  expect(lines[4]?.err).toMatchObject({
    type: "Error",
    message: "The card was declined",
    stack: expect.stringContaining("observe-scene"),
  });
  expect(lines[6]).toMatchObject({ action: "throw", err: { type: "StoreError", code: "BQ_STORE_FAILED" } });
  expect(lines[5]).not.toHaveProperty("err");
});
