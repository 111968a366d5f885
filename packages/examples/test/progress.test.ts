import { describe, expect, it } from "vitest";
import { Progress } from "../src/demo/progress.ts";

function terminal(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

describe("progress", () => {
  it("shows on a terminal once the work has taken a second, ten times a second at most", () => {
    const screen = terminal(true);
    let now = 0;
    const progress = new Progress(screen, () => now);
    for (; now < 1_000; now += 10) progress.update(0.1, "a");
    expect(screen.written).toEqual([]);
    for (; now < 2_000; now += 10) progress.update(0.5, "b");
    expect(screen.written).toHaveLength(10);
    expect(screen.written[0]).toBe("\r\x1b[K 50 %  b");
    progress.clear();
    expect(screen.written.at(-1)).toBe("\r\x1b[K");
  });

  it("writes nothing where nobody looks", () => {
    const pipe = terminal(false);
    let now = 0;
    const progress = new Progress(pipe, () => now);
    for (; now < 5_000; now += 10) progress.update(0.5, "a");
    progress.clear();
    expect(pipe.written).toEqual([]);
  });
});
