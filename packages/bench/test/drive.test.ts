import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { drive } from "../src/drive.ts";

it("every call is made once, and never more at a time than asked for", async () => {
  const made: number[] = [];
  let inFlight = 0;
  let most = 0;
  await drive(
    async (n) => {
      made.push(n);
      most = Math.max(most, ++inFlight);
      await setImmediate();
      inFlight--;
    },
    { calls: 100, concurrency: 8, deliveriesPerCall: 1, sampleEvery: 1 },
  );
  expect(made).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(most).toBe(8);
});

it("a call's latency lasts until it is answered, and a call counts for all its deliveries", async () => {
  const lastsMs = 20;
  const figures = await drive(() => new Promise((answered) => setTimeout(answered, lastsMs)), {
    calls: 4,
    concurrency: 4,
    deliveriesPerCall: 100,
    sampleEvery: 1,
  });
  // A timer may fire a fraction of a millisecond early.
  expect(figures.p50Ms).toBeGreaterThan(lastsMs - 2);
  expect(figures.p99Ms).toBeGreaterThanOrEqual(figures.p50Ms);
  expect(figures.perSecond).toBeLessThanOrEqual((4 * 100) / ((lastsMs - 2) / 1_000));
  expect(figures.perSecond).toBeGreaterThan(0);
});

it("what a call throws ends the measurement", async () => {
  const terms = { calls: 10, concurrency: 2, deliveriesPerCall: 1, sampleEvery: 1 };
  await expect(drive(() => Promise.reject(new Error("the server is gone")), terms)).rejects.toThrow(
    "the server is gone",
  );
});
