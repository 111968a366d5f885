import { expect, it } from "vitest";
import type { Kind } from "../src/contestant.ts";
import { contestants } from "../src/contestants/index.ts";
import { goals, judge } from "../src/goals.ts";
import type { Cell } from "../src/results.ts";
import { spread } from "../src/statistics.ts";

function cell(contestant: string, kind: Kind, rounds: readonly number[]): Cell {
  return {
    contestant,
    concurrency: 64,
    kind,
    perSecond: spread(rounds),
    p50Ms: spread([1]),
    p99Ms: spread([2]),
  };
}

it("a goal is met when the median of the rounds' ratios reaches it", () => {
  const plain = cell("sqlite/plain", "first", [100, 10, 100]);
  const outcome = (rounds: readonly number[]) => judge([plain, cell("sqlite/wrap", "first", rounds)]);
  expect(outcome([800, 80, 100])).toMatchObject([{ atLeast: 8, met: true, reached: { median: 8, min: 1 } }]);
  expect(outcome([790, 79, 9_000])).toMatchObject([{ met: false, reached: { median: 7.9 } }]);
});

it("what was not measured is not judged", () => {
  expect(judge([cell("sqlite/wrap", "first", [1])])).toEqual([]);
});

it("every goal is about contestants that there are", () => {
  const names = contestants.map(({ name }) => name);
  for (const { contestant, against } of goals)
    expect(names).toEqual(expect.arrayContaining([contestant, against]));
});
