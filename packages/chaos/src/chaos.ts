// How many effects are lost or doubled when everything fails: pnpm chaos, see README.md.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, UsageError, usage } from "./arguments.ts";

/** Runs the command; resolves to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const read = readArguments(args);
  if (read.task === "help") {
    process.stdout.write(usage);
    return 0;
  }
  // The drivers take a while to load, which nobody has to wait for who only wants to know how.
  const { run } = await import("./run.ts");
  const { renderReport } = await import("./report/text.ts");
  process.stderr.write(`Seed ${read.seed}: ${read.chosen.length} scenarios, about ${read.minutes} min\n`);
  const report = await run({
    ...read,
    logs: read.logs === undefined ? undefined : typedIn(read.logs),
    onDone({ name, durationMs, verdict }) {
      const outcome = verdict.faults.length === 0 ? "passed" : "FAILED";
      process.stderr.write(`${outcome}  ${name}  ${(durationMs / 1_000).toFixed(1)} s\n`);
    },
  });
  const file = fileOf(read.json);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
  process.stdout.write(`${renderReport(report)}Written to ${file}\n`);
  return report.passed ? 0 : 1;
}

function fileOf(json: string | undefined): string {
  if (json !== undefined) return typedIn(json);
  return fileURLToPath(new URL("../reports/chaos.json", import.meta.url));
}

/** A path means the folder in which the command was typed; the workspace's scripts run it from their own. */
function typedIn(path: string): string {
  return resolve(process.env.INIT_CWD ?? "", path);
}

let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  const wrongLine = error instanceof UsageError;
  code = wrongLine ? 2 : 1;
  if (wrongLine) process.stderr.write(`${error.message}\n\n${usage}`);
  else console.error(error);
}
// Not by itself: a client of a broker that was killed may go on trying to come back to it.
process.exit(code);
