import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import type { RunReport } from "../src/report/report.ts";

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

/** Runs the command, in a folder of the test's own. */
export function chaos(...args: string[]): Promise<Ended> {
  return new Promise((ended) => {
    execFile(
      process.execPath,
      ["--conditions=@bq/source", command, ...args],
      { cwd: folder, env: { ...process.env, INIT_CWD: folder }, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => ended({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

export async function reportIn(file: string): Promise<RunReport> {
  return JSON.parse(await readFile(join(folder, file), "utf8")) as RunReport;
}
