import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { contractCases } from "../src/index.ts";
import { binOf, ensureBuilt } from "./fixtures/built.ts";
import { runProgram } from "./fixtures/run-program.ts";

const here = fileURLToPath(new URL("..", import.meta.url));
const core = fileURLToPath(new URL("../../packages/core", import.meta.url));
const cwd = fileURLToPath(new URL("fixtures/runners", import.meta.url));

const timeoutMs = 120_000;

/** The limit that a runner sets for a test by itself: one case takes longer. */
const limitMs = 1_000;

const caseCount = contractCases({
  name: "any",
  capabilities: ["ttl", "batch", "claims"],
  open: () => {
    throw new Error("nothing is run");
  },
}).length;

/** How each runner is started, and how it says that so many tests passed. */
const runners: [string, () => string[], (count: number) => string | RegExp][] = [
  [
    "vitest",
    () => [binOf("vitest"), "run", "--root", cwd, `--testTimeout=${limitMs}`, "vitest.test.mjs"],
    (count) => `Tests  ${count} passed (${count})`,
  ],
  [
    "jest",
    () => [binOf("jest"), "--rootDir", cwd, "--testMatch", "**/jest.test.cjs", `--testTimeout=${limitMs}`],
    (count) => `Tests:       ${count} passed, ${count} total`,
  ],
  ["mocha", () => [binOf("mocha"), "--timeout", String(limitMs), "mocha.mjs"], (count) => `${count} passing`],
  [
    "node:test",
    () => ["--test", "node-test.mjs"],
    (count) => new RegExp(`tests ${count}\\n[^]*pass ${count}\\n`),
  ],
];

describe.each(runners)("under %s, the contract", (_, args, passed) => {
  beforeAll(async () => {
    await ensureBuilt(core, "index.cjs");
    await ensureBuilt(here, "index.cjs");
  }, timeoutMs);

  const start = (fixture: string) =>
    runProgram(process.execPath, args(), { cwd, env: { BQ_FIXTURE: fixture } });

  it("passes for a right store, case by case", { timeout: timeoutMs }, async () => {
    const { code, stdout, stderr } = await start("right");
    expect(`${stdout}${stderr}`).toMatch(passed(caseCount));
    expect(code).toBe(0);
  });

  it("fails for a broken store, and says in which case", { timeout: timeoutMs }, async () => {
    const { code, stdout, stderr } = await start("broken");
    expect(code).not.toBe(0);
    expect(`${stdout}${stderr}`).toContain("an id that one handle forgot is seen by no handle");
    expect(`${stdout}${stderr}`).toContain('seen("forgotten") on handle 1 after the other handle forgot it');
  });
});

describe("the built command", () => {
  it("runs the contract on a module of the user's", { timeout: timeoutMs }, async () => {
    const command = fileURLToPath(new URL("../bin/bq-conformance.mjs", import.meta.url));
    const { code, stdout } = await runProgram(process.execPath, [command, "subject.cjs"], { cwd });
    expect(stdout).toMatch(/\n\d+ ok, 0 failed, in /);
    expect(code).toBe(0);
  });
});
