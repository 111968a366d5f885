import { expect, it, vi } from "vitest";
import { halfOfTheScenarios, nameOf } from "../src/scenarios.ts";
import { chaos, reportIn } from "./chaos-command.ts";

vi.setConfig({ testTimeout: 600_000 });

it("under every fault, in every store and mode, nothing is lost, and every double has its reason", async () => {
  // The plan is always this one, so that every run of the tests injects the same; what comes of it is up to the machine.
  const { code, stdout, stderr } = await chaos("--minutes", "1", "--seed", "7", "--json", "report.json");
  if (code !== 0 && code !== 1) throw new Error(`There was no run: ${stderr}`);

  const report = await reportIn("report.json");
  const failed = report.scenarios.filter(({ passed }) => !passed);
  const problems = failed.flatMap((each) => each.problems.map((problem) => `${each.scenario}: ${problem}`));
  if (code === 1) throw new Error([...problems, ...report.leftovers, stderr, stdout].join("\n"));
  expect(report).toMatchObject({ passed: true, seed: 7, leftovers: [] });
  expect(report.totals).toMatchObject({ lost: 0, unexplained: 0 });
  expect(report.scenarios.map(({ scenario }) => scenario)).toEqual(halfOfTheScenarios.map(nameOf));
  for (const scenario of report.scenarios) {
    const { effects, messages, deliveries, doubled, faults } = scenario;
    expect(scenario, scenario.scenario).toMatchObject({ passed: true, lost: [], problems: [] });
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

it("--help says how, and a command line that is wrong is told apart from a failure", async () => {
  expect(await chaos("--help")).toMatchObject({ code: 0, stderr: "" });
  const { code, stdout, stderr } = await chaos("--minutes", "0");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--minutes must be a number from 1 to 600");
  expect(stderr).toContain("Usage: pnpm chaos");
});
