import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { contestants } from "../src/contestants/index.ts";
import type { Results } from "../src/results.ts";

const command = fileURLToPath(new URL("../src/bench.ts", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bq-bench-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function bench(...args: string[]): Promise<Ended> {
  return new Promise((ended) => {
    execFile(
      process.execPath,
      ["--conditions=@bq/source", command, ...args],
      { cwd: folder, env: { ...process.env, INIT_CWD: folder } },
      (error, stdout, stderr) => ended({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

it("a run measures whom it was asked for, prints a table, and writes the results and their chart", {
  timeout: 60_000,
}, async () => {
  const narrow = ["--rounds", "1", "--deliveries", "200", "--concurrency", "1,8"];
  const only = ["--only", "memory", "--only", "sqlite/wrapBatch"];
  const { code, stdout, stderr } = await bench(...narrow, ...only, "--folder", "found");
  expect({ code, stderr }).toMatchObject({ code: 0 });

  const results = JSON.parse(await readFile(join(folder, "found/latest.json"), "utf8")) as Results;
  const names = ["memory/plain", "memory/wrap", "memory/wrapClaiming", "sqlite/plain", "sqlite/wrapBatch"];
  expect(results.contestants.map(({ name }) => name)).toEqual(names);
  const measured = results.cells.map(({ contestant, concurrency, kind }) => [contestant, concurrency, kind]);
  const expected = names.flatMap((name) =>
    [1, 8].flatMap((concurrency) => ["first", "duplicate"].map((kind) => [name, concurrency, kind])),
  );
  expect(measured).toEqual(expected);
  for (const { perSecond, p50Ms, p99Ms } of results.cells) {
    expect(perSecond.rounds).toHaveLength(1);
    expect(perSecond.median).toBeGreaterThan(0);
    expect(p99Ms.median).toBeGreaterThanOrEqual(p50Ms.median);
  }
  expect(Object.keys(results.machine.backends)).toEqual(["memory", "sqlite"]);

  for (const shown of ["8 calls in flight", "wrapBatch of 100", "synchronous FULL"]) {
    expect(stdout).toContain(shown);
  }
  expect(await readdir(join(folder, "found"))).toEqual(["chart.svg", "latest.json"]);

  // The chart comes from the file alone.
  const chart = await readFile(join(folder, "found/chart.svg"), "utf8");
  await rm(join(folder, "found/chart.svg"));
  expect(await bench("--draw", "--folder", "found")).toMatchObject({ code: 0, stdout });
  expect(await readFile(join(folder, "found/chart.svg"), "utf8")).toBe(chart);
});

it("--list names everybody, --help says how, and neither measures", { timeout: 60_000 }, async () => {
  const list = await bench("--list");
  expect(list.code).toBe(0);
  for (const { name } of contestants) expect(list.stdout).toContain(name);
  const help = await bench("--help");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("--full");
});

it("a command line that is wrong is told apart from a failure, and the usage is shown", {
  timeout: 60_000,
}, async () => {
  const { code, stdout, stderr } = await bench("--rounds", "0");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--rounds must be a whole number from 1");
  expect(stderr).toContain("Usage: pnpm bench");
});
