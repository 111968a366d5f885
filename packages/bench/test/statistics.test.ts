import { describe, expect, it } from "vitest";
import { median, percentile, ratio, spread } from "../src/statistics.ts";

describe("statistics", () => {
  it("the median is the middle value, or the mean of the two in the middle, in whatever order they come", () => {
    expect(median([30, 10, 20])).toBe(20);
    expect(median([4, 1, 100, 2])).toBe(3);
    expect(median([7])).toBe(7);
  });

  it("values are put in order as numbers, not as texts", () => {
    expect(median([100, 9, 20])).toBe(20);
  });

  it("a percentile is the smallest value that so many of all values do not exceed", () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i);
    expect(percentile(values, 0.5)).toBe(100);
    expect(percentile(values, 0.99)).toBe(198);
    expect(percentile(values, 1)).toBe(200);
    expect(percentile([1, 2, 3], 0.99)).toBe(3);
  });

  it("the values themselves are left in their order", () => {
    const values = [3, 1, 2];
    median(values);
    percentile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  it("a spread keeps the rounds beside their median and extremes", () => {
    expect(spread([5, 9, 1])).toEqual({ median: 5, min: 1, max: 9, rounds: [5, 9, 1] });
  });

  it("a ratio compares the two of each round, so that a slow round counts for both", () => {
    // The second round was ten times slower for both; the medians alone would say 1, or 10.
    expect(ratio([20, 2, 40], [10, 1, 10])).toEqual({ median: 2, min: 2, max: 4, rounds: [2, 2, 4] });
  });

  it("nothing is made of no values, of a share that is none, or of rounds that do not match", () => {
    expect(() => median([])).toThrow(RangeError);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
    expect(() => percentile([1], 0)).toThrow(RangeError);
    expect(() => percentile([1], 1.01)).toThrow(RangeError);
    expect(() => ratio([1, 2], [1])).toThrow(RangeError);
  });
});
