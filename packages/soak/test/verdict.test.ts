import { expect, it } from "vitest";
import { judge } from "../src/verdict.ts";
import type { Window } from "../src/watch.ts";

/** A run of which every window is as it should be, but for what the test says of it. */
function judged(windowOf: (number: number) => Partial<Window>): readonly string[] {
  const usual = { deliveries: 100_000, heldBytes: 20e6, seconds: 1, cpuSeconds: 1 };
  const windows = Array.from({ length: 20 }, (_, number) => ({ ...usual, ...windowOf(number) }));
  const outcomes = { ran: 0, skipped: 0, parked: 0, failed: 0, unidentified: 0 };
  return judge({ scene: "made up", deliveries: 2e6, windows, outcomes, peakResidentBytes: 0 }).faults;
}

it("what grows and slows down only while it warms up is fine", () => {
  expect(
    judged((number) => ({ heldBytes: number < 5 ? 1e6 * number : 20e6, cpuSeconds: number < 5 ? 0.2 : 1 })),
  ).toEqual([]);
});

it("a few bytes for each delivery are too many, however they come", () => {
  expect(judged((number) => ({ heldBytes: 20e6 + number * 100_000 * 8 }))).toEqual([
    "The process held 8000000 bytes more after 1000000 further deliveries, 8.0 for each.",
  ]);
  expect(judged((number) => ({ heldBytes: number < 10 ? 20e6 : 22e6 }))).toHaveLength(1);
});

it("single windows that differ prove nothing, nor does memory that shrinks", () => {
  expect(
    judged((number) => ({ heldBytes: number === 18 ? 90e6 : 20e6, cpuSeconds: number === 19 ? 9 : 1 })),
  ).toEqual([]);
  expect(judged((number) => ({ heldBytes: 90e6 - number * 1e6 }))).toEqual([]);
  expect(judged((number) => ({ cpuSeconds: number > 10 && number % 3 > 0 ? 4 : 1 }))).toEqual([]);
});

it("deliveries that take twice the processor time at the end are a slow-down; a slow clock is none", () => {
  expect(judged((number) => ({ cpuSeconds: 1 + number / 10 }))).toEqual([
    "A delivery took 25.0 µs of processor time at the end, after 15.0 µs at first.",
  ]);
  expect(judged((number) => ({ seconds: 1 + number }))).toEqual([]);
});

it("windows of a few milliseconds are too short to tell how fast they were", () => {
  expect(judged((number) => ({ cpuSeconds: 0.01 + number / 100 }))).toEqual([]);
});
