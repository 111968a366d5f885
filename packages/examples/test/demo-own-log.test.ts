import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { histogramBesideTheGap, row, runDemo, temporaryFolder, writeLog } from "./demo-process.ts";

const a = '{"meta":{"id":"a"}}';
const b = '{"meta":{"id":"b"}}';

describe("the demo on a user's log", () => {
  it("finds a file from the folder in which the command was typed", async () => {
    const folder = dirname(writeLog(`${a}\n${b}\n${a}\n`));
    const demo = await runDemo(["own.jsonl"], { env: { INIT_CWD: folder } });
    expect(demo).toMatchObject({ code: 0, stderr: "" });
    expect(demo.stdout).toMatch(/^own\.jsonl: 3 deliveries, 2 ids$/m);
    expect(histogramBesideTheGap(demo)).toEqual({ 1: 2 });
  }, 60_000);

  it("reads standard input", async () => {
    const demo = await runDemo(["-"], { stdin: `${a}\n${a}\n${b}` });
    expect(demo).toMatchObject({ code: 0, stderr: "" });
    expect(demo.stdout).toMatch(/^standard input: 3 deliveries, 2 ids$/m);
    expect(histogramBesideTheGap(demo)).toEqual({ 1: 2 });
  }, 60_000);

  it("names each malformed line, skips it, and exits with 1", async () => {
    const demo = await runDemo([writeLog(`${a}\n\n[1]\n{"meta"\n${a}\n"a"\n`)]);
    expect(demo.code).toBe(1);
    const [first, second, third, last] = demo.stderr.split("\n");
    expect(first).toBe("own.jsonl, line 3: not a JSON object, but an array; skipped");
    expect(second).toMatch(/^own\.jsonl, line 4: not JSON \(.+\); skipped$/);
    expect(third).toBe("own.jsonl, line 6: not a JSON object, but a string; skipped");
    expect(last).toBe("3 lines were malformed and skipped.");
    expect(histogramBesideTheGap(demo)).toEqual({ 1: 1 });
  }, 60_000);

  it("throws where a message asks for it, and runs the later delivery that succeeds", async () => {
    const line = (id: string, throws: unknown, attempts: number) =>
      JSON.stringify({ meta: { id }, data: { throws }, attempts });
    const lines = [line("late", 1, 0), line("late", 1, 1), line("never", "always", 0), line("late", 1, 1)];
    const demo = await runDemo(["-"], { stdin: lines.join("\n") });
    expect(histogramBesideTheGap(demo)).toEqual({ 0: 1, 1: 1 });
    expect(row(demo, "failed").total).toBeGreaterThanOrEqual(1);
  }, 60_000);

  it("counts deliveries without a usable id, and runs each", async () => {
    const lines = ["{}", '{"meta":null}', '{"meta":{"id":7}}', '{"meta":{"id":""}}', a];
    const demo = await runDemo(["-"], { stdin: lines.join("\n") });
    expect(demo.code).toBe(0);
    expect(row(demo, "unidentified").total).toBeGreaterThanOrEqual(4);
    expect(histogramBesideTheGap(demo)).toEqual({ 1: 1 });
  }, 60_000);

  it("keeps ids apart that only look alike", async () => {
    const ids = [
      "x",
      "X",
      " x",
      "caf\u00e9",
      "cafe\u0301",
      "\ud83d",
      "\ud83e",
      "__proto__",
      "a\u0000",
      "a\u0000b",
    ];
    const lines = ids.map((id) => JSON.stringify({ meta: { id } }));
    const demo = await runDemo(["-"], { stdin: [...lines, ...lines].join("\n") });
    expect(demo.code).toBe(0);
    expect(histogramBesideTheGap(demo)).toEqual({ 1: ids.length });
  }, 60_000);

  it("says that an empty log holds no deliveries", async () => {
    const demo = await runDemo([writeLog("")]);
    expect(demo).toMatchObject({ code: 0, stderr: "", stdout: "own.jsonl holds no deliveries.\n" });
  }, 60_000);

  it("takes binary garbage for what it is, without filling the screen", async () => {
    const garbage = Uint8Array.from({ length: 40_000 }, (_, index) => (index * 7_919) % 251);
    const demo = await runDemo(["-"], { stdin: garbage });
    expect(demo.code).toBe(1);
    expect(demo.stdout).toBe("standard input holds no deliveries.\n");
    expect(demo.stderr.split("\n").length).toBeLessThan(110);
    expect(demo.stderr).toMatch(/\d+ lines were malformed and skipped \(the first 100 are named above\)/);
  }, 60_000);
});

describe("the demo's command line", () => {
  it("refuses what it cannot read with exit code 2 and the path", async () => {
    const folder = temporaryFolder();
    const missing = join(folder, "missing.jsonl");
    expect(await runDemo([folder])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `${folder} is a directory, not a file.\n`,
    });
    const demo = await runDemo([missing]);
    expect(demo).toMatchObject({ code: 2, stdout: "" });
    expect(demo.stderr).toContain(`Cannot read ${missing}: `);
    expect(existsSync(missing)).toBe(false);
  }, 60_000);

  it("refuses unknown options and a second log with exit code 2 and the usage", async () => {
    const unknown = await runDemo(["--fast"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/^Unknown option '--fast'\n\nUsage: npm run demo /);
    const second = await runDemo(["a.jsonl", "b.jsonl"]);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/^One log at a time, got 2\.\n\nUsage: /);
  }, 60_000);

  it("explains itself with --help", async () => {
    const demo = await runDemo(["--help"]);
    expect(demo).toMatchObject({ code: 0, stderr: "" });
    expect(demo.stdout).toMatch(/^Usage: npm run demo [\s\S]*--gap[\s\S]*Exit codes: /);
  }, 60_000);
});
