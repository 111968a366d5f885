import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { faketime } from "../src/index.ts";

// The library may have to be installed.
vi.setConfig({ testTimeout: 300_000 });

const dayMs = 86_400_000;

test.each([
  ["+1d", dayMs],
  ["-1d", -dayMs],
])(
  "faketime(%j) lends a process a wall clock that is off by that, and leaves its timers alone",
  async (offset, offMs) => {
    const script =
      "const startedAt = performance.now(); setTimeout(() => console.log(JSON.stringify([Date.now(), performance.now() - startedAt])), 50);";
    const env = { ...process.env, ...(await faketime(offset)) };
    const { stdout } = await promisify(execFile)(process.execPath, ["--eval", script], { env });
    const [clock = 0, waitedMs = 0] = JSON.parse(stdout) as number[];
    expect(Math.abs(clock - Date.now() - offMs)).toBeLessThan(dayMs / 2);
    expect(waitedMs).toBeGreaterThan(0);
    expect(waitedMs).toBeLessThan(dayMs / 2);
  },
);
