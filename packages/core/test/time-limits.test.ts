import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TimeLimits } from "../src/time-limits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("each limit ends at its own time, in whatever order they were started", () => {
  const limits = new TimeLimits();
  const over: string[] = [];
  limits.start(5_000, () => over.push("long"));
  limits.start(20, () => over.push("short"));
  vi.advanceTimersByTime(10);
  limits.start(20, () => over.push("later"));
  vi.advanceTimersByTime(9);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(["short"]);
  vi.advanceTimersByTime(10);
  expect(over).toEqual(["short", "later"]);
  vi.advanceTimersByTime(4_970);
  expect(over).toEqual(["short", "later", "long"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("a limit that was lifted is never over, and the next one still is", () => {
  const limits = new TimeLimits();
  const over: string[] = [];
  limits.start(20, () => over.push("lifted"))();
  vi.advanceTimersByTime(15);
  limits.start(20, () => over.push("kept"));
  vi.advanceTimersByTime(19);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(["kept"]);
});

it("a limit that is started when another one is over runs as long as it says", () => {
  const limits = new TimeLimits();
  const over: string[] = [];
  limits.start(20, () => {
    over.push("first");
    limits.start(30, () => over.push("second"));
  });
  vi.advanceTimersByTime(49);
  expect(over).toEqual(["first"]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(["first", "second"]);
});

function runFor(program: string): { status: number | null; printed: string } {
  const source = fileURLToPath(new URL("../src/time-limits.ts", import.meta.url));
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "--input-type=module-typescript",
      "-e",
      `import { TimeLimits } from ${JSON.stringify(source)}; ${program}`,
    ],
    { encoding: "utf8", timeout: 20_000 },
  );
  return { status, printed: stdout };
}

it("a process ends when its limits were lifted, though their timer was set", () => {
  expect(runFor('new TimeLimits().start(600_000, () => {})(); console.log("lifted");')).toEqual({
    status: 0,
    printed: "lifted\n",
  });
});

it("a process goes on while a limit runs, also one that found the timer set by another", () => {
  const program =
    'const limits = new TimeLimits(); limits.start(100, () => {})(); limits.start(200, () => console.log("over"));';
  expect(runFor(program)).toEqual({ status: 0, printed: "over\n" });
});
