// Feeds a delivery log through `wrap` on a SQLite file, kills the worker in the middle, and prints what happened.
import { join } from "node:path";
import { readArguments, UsageError, usage } from "./arguments.ts";
import { deliverLog } from "./broker.ts";
import { readLedger } from "./ledger.ts";
import { type LogSource, openLog, UnreadableLogError } from "./log-source.ts";
import { MalformedLines } from "./malformed.ts";
import { Progress } from "./progress.ts";
import { readLog } from "./read-log.ts";
import { writeReport } from "./report.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { judge } from "./verdict.ts";
import { endWorkers } from "./worker-process.ts";

/** Runs the demo; resolves to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const { file, gap, help } = readArguments(args);
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const folder = makeTemporaryFolder(endWorkers);
  const log = await openLog(file, process.stdin, folder);
  return demonstrate(log, folder, gap);
}

async function demonstrate(log: LogSource, folder: string, gap: boolean): Promise<number> {
  const startedAt = performance.now();
  const progress = new Progress(process.stderr);
  process.on("exit", () => progress.clear());
  const malformed = new MalformedLines(log.name, (text) => {
    progress.clear();
    process.stderr.write(text);
  });
  let deliveries = 0;
  const run = await deliverLog(
    readLog(log.open(), (line) => malformed.add(line)),
    {
      folder,
      gap,
      killAtByte: log.sizeBytes / 2,
      onDelivered: ({ endByte }) => {
        deliveries++;
        progress.update(endByte / log.sizeBytes, `${deliveries} deliveries`);
      },
    },
  );
  progress.clear();
  const effects = await readLedger(join(folder, "ledger.jsonl"));
  const verdict = judge(run, effects);
  const durationMs = performance.now() - startedAt;
  process.stdout.write(writeReport({ logName: log.name, deliveries, run, effects, verdict, durationMs }));
  malformed.summarise();
  if (verdict.faults.length > 0) return 3;
  return malformed.count > 0 ? 1 : 0;
}

// A reader that has seen enough (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
  else if (error instanceof UnreadableLogError) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`The demo failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = error instanceof UsageError || error instanceof UnreadableLogError ? 2 : 3;
}
