import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type ProgramResult, runProgram } from "./fixtures/run-program.ts";

const cwd = fileURLToPath(new URL("fixtures/stores", import.meta.url));
const command = fileURLToPath(new URL("../src/cli.ts", import.meta.url));
const published = fileURLToPath(
  new URL("../../../shared/babelqueue-conformance/manifest.json", import.meta.url),
);

const options = { timeout: 60_000 };

function start(...args: string[]): Promise<ProgramResult> {
  return runProgram(process.execPath, ["--conditions=@bq/source", command, ...args], { cwd });
}

describe("bq-conformance", () => {
  it.for(["./esm-default.js", "commonjs.cjs", "./typescript.ts", "../example-store.js"])(
    "runs the contract and the manifest on %s",
    options,
    async (module) => {
      const { code, stdout, stderr } = await start(module);
      expect(stderr).toBe("");
      expect(stdout).toContain("ok      an id that was never remembered is not seen  [seen-set/absent]");
      expect(stdout).toContain("[manifest/a-redelivery-is-skipped]");
      expect(stdout).toMatch(/\n\d+ ok, 0 failed, in [\d.]+ s\n$/);
      expect(stdout).not.toContain("FAILED");
      expect(code).toBe(0);
    },
  );

  it("lists the cases that it leaves out, and for want of what", options, async () => {
    const { stdout } = await start("esm-default.js");
    expect(stdout).toMatch(/left out: \d+ cases\n/);
    expect(stdout).toMatch(
      / {2}for want of batch:\n(?: {10}.*\n)* {10}seenMany answers in the order of the ids {2}\[batch\/order\]\n/,
    );
  });

  it("prints what failed and exits with 1", options, async () => {
    const { code, stdout } = await start("broken.js");
    expect(stdout).toMatch(
      / {2}FAILED {2}different ids never become one.*\n {10}an id with .* the store takes it for/,
    );
    expect(stdout).toContain('  FAILED  replays "ids-that-differ-in-white-space-are-different"');
    expect(stdout).toMatch(/\n\d+ ok, [1-9]\d* failed, in [\d.]+ s\n$/);
    expect(code).toBe(1);
  });

  it("ends although the store has left a socket and a timer open", options, async () => {
    const { code, stdout } = await start("hanging-socket.js");
    expect(stdout).toMatch(/ 0 failed, in [\d.]+ s\n$/);
    expect(code).toBe(0);
  });

  it("counts an error that nobody catches as a failure of its case, and goes on", options, async () => {
    const { code, stdout } = await start("stray-error.js");
    expect(stdout).toMatch(/ {2}FAILED .*\n {10}outside any call: Error: connection reset\n/);
    expect(stdout).toMatch(/\n\d+ ok, 1 failed, in [\d.]+ s\n$/);
    expect(code).toBe(1);
  });

  it.runIf(existsSync(published))("passes with the manifest that BabelQueue publishes", options, async () => {
    const { code, stdout } = await start("esm-default.js", "--manifest", published);
    expect(stdout).toContain('ok      replays "throw-leaves-id-unmarked"');
    expect(stdout).not.toContain("a-redelivery-is-skipped");
    expect(stdout).toMatch(/ 0 failed, in /);
    expect(code).toBe(0);
  });

  it("prints its usage for --help", options, async () => {
    const { code, stdout } = await start("--help");
    expect(stdout).toMatch(/^Usage: bq-conformance MODULE \[--manifest FILE\]\n/);
    expect(code).toBe(0);
  });

  it.for<[string, string[], RegExp]>([
    ["no module", [], /No module was given\.\n\nUsage: /],
    ["two modules", ["broken.js", "throws.js"], /One module at a time, but also got throws\.js/],
    ["an unknown option", ["broken.js", "--fast"], /Unknown option '--fast'/],
    ["an option without its value", ["broken.js", "--manifest"], /'--manifest <value>' argument missing/],
    ["a module that is not there", ["nowhere.js"], /nowhere\.js could not be loaded: .*Cannot find module/s],
    ["a module that throws", ["throws.js"], /throws\.js could not be loaded: Error: no such server/],
    ["a module of another kind", ["../../../README.md"], /does not run files of this kind/],
    [
      "a module without a subject",
      ["no-subject.js"],
      /no-subject\.js exports no subject: export it as "subject" or as the default/,
    ],
    [
      "half a subject",
      ["bad-subject.js"],
      /Subject "half a subject": open must be a function, got undefined/,
    ],
    [
      "a manifest that is not there",
      ["esm-default.js", "--manifest", "nowhere.json"],
      /The manifest could not be read: .*nowhere\.json/,
    ],
    [
      "a manifest that is none",
      ["esm-default.js", "--manifest", "../../../package.json"],
      /package\.json: idempotency must be an object, got undefined/,
    ],
  ])("is given %s: says so and exits with 2", options, async ([, args, message]) => {
    const { code, stdout, stderr } = await start(...args);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^bq-conformance: /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
