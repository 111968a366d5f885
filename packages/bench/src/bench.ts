// Measures the stores beside what a user would pick instead: pnpm bench, see README.md.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchArguments, isNarrowed, readArguments, select, UsageError, usage } from "./arguments.ts";
import { temporaryFolderIsInMemory } from "./backends.ts";
import { renderChart } from "./chart.ts";
import { Progress } from "./progress.ts";
import { formatResults, type Results } from "./results.ts";
import { renderTables } from "./table.ts";

/** Runs the command; resolves to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const read = readArguments(args);
  if (read.task === "help") {
    process.stdout.write(usage);
    return 0;
  }
  if (read.task === "list") {
    const { contestants } = await import("./contestants/index.ts");
    process.stdout.write(`${contestants.map(({ name, side }) => `${name} (${side})`).join("\n")}\n`);
    return 0;
  }
  const folder = folderOf(read);
  const file = join(folder, "latest.json");
  if (read.task === "run") {
    // Everybody's libraries take a while to load, which nobody has to wait for who only wants to know how.
    const { contestants } = await import("./contestants/index.ts");
    const { runBenchmark } = await import("./run.ts");
    const chosen = select(contestants, read.only);
    if (await temporaryFolderIsInMemory()) {
      process.stderr.write("Temporary files are kept in memory here: set TMPDIR to a folder on a disk.\n");
    }
    const results = await runBenchmark(chosen, read, new Progress(process.stderr));
    await mkdir(folder, { recursive: true });
    await writeFile(file, formatResults(results));
  }
  // Read back, so that table and chart never show anything but what the file says.
  const results = JSON.parse(await readFile(file, "utf8")) as Results;
  await writeFile(join(folder, "chart.svg"), renderChart(results));
  process.stdout.write(`${renderTables(results)}\n\nWritten to ${folder}: latest.json, chart.svg\n`);
  return 0;
}

function folderOf(read: BenchArguments): string {
  // The folder in which the command was typed; the workspace's scripts run it from their own.
  if (read.folder !== undefined) return resolve(process.env.INIT_CWD ?? "", read.folder);
  const results = fileURLToPath(new URL("../results", import.meta.url));
  return isNarrowed(read) ? join(results, "partial") : results;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
