import { beforeAll, describe, expect, it } from "vitest";
import { shippedLog } from "../src/demo/log-source.ts";
import { type DemoResult, histogram, marks, row, runDemo } from "./demo-process.ts";
import { type Census, readLines, takeCensus } from "./log-census.ts";

function expectOneScreen(report: string): void {
  const lines = report.split("\n");
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
  expect(report).not.toContain("\x1b");
  expect(report).not.toMatch(/ $/m);
}

describe("the demo on the log that is shipped", () => {
  let demo: DemoResult;
  let census: Census;

  beforeAll(async () => {
    census = takeCensus(readLines(shippedLog));
    demo = await runDemo([]);
  }, 120_000);

  it("ends well and says nothing on standard error", () => {
    expect(demo.stderr).toBe("");
    expect(demo.code).toBe(0);
    expect(demo.stdout).toContain("had its effect exactly once");
  });

  it("fits on one screen, without colours and trailing spaces", () => {
    expectOneScreen(demo.stdout);
  });

  it("fits on one screen also when the kill meets the gap, which takes more lines", async () => {
    const { stdout } = await runDemo(["--gap"]);
    expect(stdout).toContain("had two effects");
    expectOneScreen(stdout);
  }, 120_000);

  it("gives every message that the handler ever accepts one effect, and every other none", () => {
    const effects = histogram(demo);
    const never = census.ids.size - census.succeeding.size;
    // The kill may fall between an effect and its mark; then the report must name that one message.
    const twice = effects["2"] ?? 0;
    expect(effects).toEqual({
      0: never,
      1: census.succeeding.size - twice,
      ...(twice > 0 ? { 2: 1 } : {}),
    });
    expect(demo.stdout.includes("had two effects")).toBe(twice > 0);
  });

  it("marks every message that had its effect", () => {
    expect(marks(demo).atEnd).toBe(census.succeeding.size);
  });

  it("delivers the whole log, and beside it what the broker brought again", () => {
    const again = [...demo.stdout.matchAll(/^ +(\d+) (?:not acknowledged|acknowledged before)/gm)];
    const broughtAgain = again.reduce((sum, [, figure]) => sum + Number(figure), 0);
    expect(broughtAgain).toBeGreaterThanOrEqual(200);
    expect(row(demo, "deliveries").total).toBe(census.deliveries + broughtAgain);
  });

  it("accounts for every delivery, before the kill and after it", () => {
    const outcomes = ["ran", "skipped", "unidentified", "failed", "unanswered"].map((title) =>
      row(demo, title),
    );
    for (const column of ["before", "after", "total"] as const) {
      const sum = outcomes.reduce((total, outcome) => total + outcome[column], 0);
      expect(sum).toBe(row(demo, "deliveries")[column]);
    }
  });

  it("kills the worker in the middle, while it holds deliveries, and not more than its prefetch", () => {
    const { before, after } = row(demo, "unanswered");
    expect(before).toBeGreaterThanOrEqual(1);
    expect(before).toBeLessThanOrEqual(16);
    expect(after).toBe(0);
    expect(Math.abs(row(demo, "deliveries").before / census.deliveries - 0.5)).toBeLessThan(0.05);
    expect(marks(demo).atKill).toBeGreaterThan(census.succeeding.size / 3);
    expect(marks(demo).atKill).toBeLessThan((census.succeeding.size * 2) / 3);
  });

  it("skips after the restart whatever was marked before the kill", () => {
    const twice = histogram(demo)["2"] ?? 0;
    expect(marks(demo).atKill + row(demo, "ran").after).toBe(census.succeeding.size);
    expect(row(demo, "ran").before + row(demo, "ran").after).toBeLessThanOrEqual(census.succeeding.size);
    expect(marks(demo).atKill - row(demo, "ran").before).toBeLessThanOrEqual(row(demo, "unanswered").before);
    expect(twice).toBeLessThanOrEqual(1);
    const replay = /200 acknowledged before +→ (\d+) skipped(.*)/.exec(demo.stdout);
    expect(Number(replay?.[1])).toBeGreaterThan(100);
    expect(replay?.[2]).not.toMatch(/ \d+ ran/);
  });

  it("runs a message without an id on each of its deliveries", () => {
    expect(row(demo, "unidentified").total).toBeGreaterThanOrEqual(census.unguarded);
    expect(row(demo, "failed").total).toBeGreaterThanOrEqual(census.failing - row(demo, "unanswered").before);
  });
});
