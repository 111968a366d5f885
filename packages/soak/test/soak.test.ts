import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { scenes } from "../src/scenes.ts";
import { judge, type Verdict } from "../src/verdict.ts";
import type { Watched } from "../src/watch.ts";

vi.setConfig({ testTimeout: 180_000 });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bq-soak-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where Node keeps what it has compiled: half of the time here goes into the start of processes. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/soak", import.meta.url));
const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };

/** Runs a program of this package. */
function run(file: string, ...args: string[]): Promise<Ended> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return new Promise((ended) => {
    execFile(process.execPath, ["--conditions=@bq/source", path, ...args], { env }, (error, stdout, stderr) =>
      ended({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

const soak = (...args: string[]) => run("../src/soak.ts", ...args);

it("every wrapper, in memory and on Redis, holds no more after many deliveries than after few", async () => {
  const { code, stdout, stderr } = await soak("--deliveries", "20000", "--folder", folder);
  expect({ code, stderr, stdout }).toMatchObject({ code: 0 });
  const { verdicts, watched } = JSON.parse(await readFile(join(folder, "latest.json"), "utf8")) as {
    verdicts: Verdict[];
    watched: Watched[];
  };
  expect(verdicts.map(({ scene }) => scene)).toEqual(scenes.map(({ name }) => name));
  for (const { scene, outcomes, deliveries } of watched) {
    expect(deliveries).toBe(20_000);
    expect(outcomes.ran / deliveries).toBeGreaterThan(0.55);
    expect(outcomes.failed / deliveries).toBeGreaterThan(0.02);
    expect(outcomes.unidentified).toBeGreaterThan(0);
    expect(outcomes.skipped).toBeGreaterThan(0);
    if (scene.endsWith("wrapClaiming")) expect(outcomes.parked).toBeGreaterThan(0);
  }
});

it("one closure that is kept for each delivery is found out", async () => {
  const { code, stdout, stderr } = await run("leaking-process.ts", "30000");
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { faults, bytesPerDelivery } = judge(JSON.parse(stdout) as Watched);
  expect(faults).toEqual([
    expect.stringMatching(/^The process held \d+ bytes more after 15000 further deliveries/),
  ]);
  expect(bytesPerDelivery).toBeGreaterThan(40);
});

it("a command line that is wrong is told apart from a failure", async () => {
  const { code, stdout, stderr } = await soak("--deliveries", "10");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("Usage: pnpm soak");
});
