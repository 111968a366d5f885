// Millions of deliveries in one process, watched for memory and speed: pnpm soak, see README.md.
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, type SoakArguments, select, UsageError, usage } from "./arguments.ts";
import { scenes } from "./scenes.ts";
import { renderTable } from "./table.ts";
import { judge, rule } from "./verdict.ts";
import type { Watched } from "./watch.ts";

/** Runs the command; resolves to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const read = readArguments(args);
  if (read.task === "help") process.stdout.write(usage);
  if (read.task === "list") process.stdout.write(`${scenes.map(({ name }) => name).join("\n")}\n`);
  if (read.task !== "run") return 0;

  // Drivers and servers take a while to load, which nobody has to wait for who only wants to know how.
  const { runScene } = await import("./run.ts");
  const watched: Watched[] = [];
  for (const scene of select(scenes, read.only)) {
    const deliveries = read.deliveries ?? scene.deliveries;
    process.stderr.write(`${scene.name}: ${deliveries} deliveries\n`);
    watched.push(await runScene(scene, deliveries));
  }
  const verdicts = watched.map(judge);
  const folder = folderOf(read);
  await mkdir(folder, { recursive: true });
  const machine = {
    load: loadavg(),
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
  };
  const results = { endedAt: new Date().toISOString(), machine, rule, verdicts, watched };
  await writeFile(join(folder, "latest.json"), `${JSON.stringify(results, null, 1)}\n`);
  process.stdout.write(`${renderTable(verdicts)}\n\nWritten to ${join(folder, "latest.json")}\n`);
  return verdicts.every(({ faults }) => faults.length === 0) ? 0 : 1;
}

function folderOf({ folder, only, deliveries }: SoakArguments): string {
  // The folder in which the command was typed; the workspace's scripts run it from their own.
  if (folder !== undefined) return resolve(process.env.INIT_CWD ?? "", folder);
  const results = fileURLToPath(new URL("../results", import.meta.url));
  return only.length > 0 || deliveries !== undefined ? join(results, "partial") : results;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
