import { expect, it, vi } from "vitest";
import { chaos, reportIn } from "./chaos-command.ts";

vi.setConfig({ testTimeout: 300_000 });

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
