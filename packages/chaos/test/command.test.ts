import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunReport } from "../src/report/report.ts";
import { halfOfTheScenarios, nameOf } from "../src/scenarios.ts";

vi.setConfig({ testTimeout: 600_000 });

const command = fileURLToPath(new URL("../src/chaos.ts", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bq-chaos-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function chaos(...args: string[]): Promise<Ended> {
  return new Promise((ended) => {
    execFile(
      process.execPath,
      ["--conditions=@bq/source", command, ...args],
      { cwd: folder, env: { ...process.env, INIT_CWD: folder }, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => ended({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

async function reportIn(file: string): Promise<RunReport> {
  return JSON.parse(await readFile(join(folder, file), "utf8")) as RunReport;
}

it("under every fault, in every store and mode, nothing is lost, and every double has its reason", async () => {
  // The plan is always this one, so that every run of the tests injects the same; what comes of it is up to the machine.
  const { code, stdout, stderr } = await chaos("--minutes", "1", "--seed", "7", "--json", "report.json");
  expect({ code, stdout: code === 0 ? "" : stdout, stderr: code === 0 ? "" : stderr }).toMatchObject({
    code: 0,
  });

  const report = await reportIn("report.json");
  expect(report).toMatchObject({ passed: true, seed: 7, leftovers: [] });
  expect(report.totals).toMatchObject({ lost: 0, unexplained: 0 });
  expect(report.scenarios.map(({ scenario }) => scenario)).toEqual(halfOfTheScenarios.map(nameOf));
  for (const scenario of report.scenarios) {
    const { effects, messages, deliveries, doubled, lost, problems, faults } = scenario;
    expect(scenario, scenario.scenario).toMatchObject({ passed: true, lost: [], problems: [] });
    expect({ lost, problems }).toEqual({ lost: [], problems: [] });
    // Every message was sent again at the end, and the ledger counted what came of all of it.
    expect(deliveries).toBeGreaterThanOrEqual(messages * 2);
    expect(effects).toBeGreaterThanOrEqual(messages);
    expect(faults.length).toBeGreaterThan(0);
    if (scenario.scenario.endsWith("wrapTransactional"))
      expect({ effects, doubled }).toEqual({ effects: messages, doubled: [] });
  }
  const injected = new Set(report.scenarios.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
  for (const kind of [
    "kill",
    "suspend",
    "store-kill",
    "store-cut",
    "store-failover",
    "broker-cut",
    "broker-restart",
  ]) {
    expect(injected).toContain(kind);
  }
  expect(stdout).toContain("Passed.");
  expect(stdout).toContain("Seed 7");
});

it("a store that is broken fails the run, in every mode", async () => {
  const narrow = ["--minutes", "1", "--broker", "bullmq", "--seed", "1"];
  const broken: [how: string, store: string, mode: string][] = [
    ["forgetful", "memory", "wrap"],
    ["generous", "memory", "wrapClaiming"],
    ["forgetful", "sqlite", "wrapTransactional"],
  ];
  const runs = broken.map(async ([how, store, mode]) => {
    const file = `${how}-${mode}.json`;
    const ended = await chaos(...narrow, "--store", store, "--mode", mode, "--break", how, "--json", file);
    return { ...ended, report: await reportIn(file) };
  });
  for (const { code, stdout, report } of await Promise.all(runs)) {
    expect({ code, passed: report.passed, lost: report.totals.lost }).toEqual({
      code: 1,
      passed: false,
      lost: 0,
    });
    expect(report.totals.unexplained).toBeGreaterThan(0);
    expect(stdout).toContain("NO REASON");
    expect(stdout).toContain("had its effect twice without a reason");
  }
});

it("--help says how, and a command line that is wrong is told apart from a failure", async () => {
  expect(await chaos("--help")).toMatchObject({ code: 0, stderr: "" });
  const { code, stdout, stderr } = await chaos("--minutes", "0");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--minutes must be a number from 1 to 600");
  expect(stderr).toContain("Usage: pnpm chaos");
});
