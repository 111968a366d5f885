import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { renderChart } from "../src/chart.ts";
import type { Cell, Results } from "../src/results.ts";
import { spread } from "../src/statistics.ts";
import { requireWellFormed, textsOf } from "./well-formed.ts";

const cell = (contestant: string, kind: Cell["kind"], rounds: readonly number[], concurrency = 64): Cell => ({
  contestant,
  concurrency,
  kind,
  perSecond: spread(rounds),
  p50Ms: spread([1]),
  p99Ms: spread([2]),
});

const results: Results = {
  schemaVersion: 1,
  startedAt: "2027-01-02T03:04:05.000Z",
  profile: "short",
  rounds: 3,
  machine: {
    node: "24.0.0",
    platform: "linux x64",
    processor: "a processor",
    processors: 2,
    backends: { redis: 'Redis <7> & "local"' },
    load: { before: 0, after: 0 },
  },
  contestants: [
    { name: "redis/plain", side: "plain", backend: "redis", mode: "seen-set", batchSize: 1 },
    { name: "redis/wrapBatch", side: "ours", backend: "redis", mode: "batch", batchSize: 100 },
    { name: "redis/<&>", side: "peer", backend: "redis", mode: "claims", batchSize: 1 },
  ],
  cells: [
    cell("redis/plain", "first", [900, 1_000, 1_100]),
    cell("redis/plain", "duplicate", [2_000, 2_000, 2_000]),
    cell("redis/wrapBatch", "first", [5_100, 5_000, 5_200]),
    cell("redis/wrapBatch", "duplicate", [2_400_000, 2_500_000, 2_300_000]),
    cell("redis/<&>", "first", [250, 240, 260]),
    cell("redis/<&>", "duplicate", [500, 500, 500]),
    cell("redis/plain", "first", [77_777, 77_777, 77_777], 256),
  ],
  absent: [],
};

it("the chart is well-formed, whatever is in the names", () => {
  requireWellFormed(renderChart(results));
});

it("the chart shows everybody's median and how it compares with the plain store", () => {
  const texts = textsOf(renderChart(results));
  for (const shown of ["plain", "wrapBatch of 100", "<&>"]) expect(texts).toContain(shown);
  expect(texts).toContain("1.0k/s");
  // Round by round: 5.67, 5.00 and 4.73 times as fast.
  expect(texts).toContain("5.1k/s · 5.0×");
  expect(texts).toContain("2.4M/s · 1200×");
  expect(texts).toContain("500/s · 0.25×");
});

it("the chart shows the figures for 64 calls in flight, and says so", () => {
  const texts = textsOf(renderChart(results));
  expect(texts.some((text) => text.startsWith("64 calls in flight; median of 3 interleaved rounds"))).toBe(
    true,
  );
  expect(texts).not.toContain("78k/s");
});

it("the longest bar of a column is the fastest, and the others are as long as their share of it", () => {
  const svg = renderChart(results);
  const widths = [
    ...svg.matchAll(/<rect class="(?:ours|plain|peer)" [^>]*width="([\d.]+)" height="13"/g),
  ].map(([, width]) => Number(width));
  const [plain = 0, batch = 0, peer = 0] = widths;
  expect(batch / plain).toBeCloseTo(5.1, 1);
  expect(plain / peer).toBeCloseTo(4, 0);
});

it("the chart can be read on a light and on a dark page", () => {
  expect(renderChart(results)).toContain("@media (prefers-color-scheme: dark)");
});

it("the chart that the README shows is the one of the results beside it", () => {
  const read = (name: string) => readFileSync(new URL(`../results/${name}`, import.meta.url), "utf8");
  expect(read("chart.svg")).toBe(renderChart(JSON.parse(read("latest.json"))));
});
