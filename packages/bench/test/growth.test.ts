import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningBackend, startBackend } from "../src/backends.ts";
import { measureGrowth } from "../src/growth.ts";
import { measurePurgePace } from "../src/purge-pace.ts";

let postgres: RunningBackend;
beforeAll(async () => {
  postgres = await startBackend("postgres");
}, 60_000);
afterAll(() => postgres[Symbol.asyncDispose]());

it("a small and a large table are measured in turn and compared", { timeout: 60_000 }, async () => {
  const terms = { smallMarks: 100, largeMarks: 5_000, rounds: 2, length: { deliveries: 200 } };
  const { kinds, ...rest } = await measureGrowth(await postgres.clear(), terms);
  expect(rest).toEqual({ smallMarks: 100, largeMarks: 5_000, concurrency: 64 });
  for (const { small, large, ratio } of [kinds.first, kinds.duplicate]) {
    expect(small.rounds).toHaveLength(2);
    expect(ratio.rounds).toEqual(large.rounds.map((value, i) => value / (small.rounds[i] ?? 0)));
  }
});

it("the purge is measured beside marks that come in, and what it deletes is counted", {
  timeout: 60_000,
}, async () => {
  const pace = await measurePurgePace(await postgres.clear(), { expiredMarks: 3_000, watchMs: 300 });
  expect(pace.inflowPerSecond).toBeGreaterThan(0);
  expect(pace.purgedPerSecond).toBeGreaterThan(0);
  expect(pace.expiredBefore).toBeGreaterThanOrEqual(3_000);
  expect(pace.expiredAfter).toBeLessThan(pace.expiredBefore);
  expect(pace.p99MsWithout).toBeGreaterThan(0);
  expect(pace.p99MsWith).toBeGreaterThan(0);
});
