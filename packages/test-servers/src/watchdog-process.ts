// The watchdog of one test process: it makes the folders and starts the servers, and is told what to do over a channel that
// ends with the test process, in whatever way that happens. Then nothing may stay: it ends all and removes all.
import { mkdtempSync, rmSync } from "node:fs";
import { chown } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChildProgram } from "./child-program.ts";
import type {
  NumberedRequest,
  ProgramStart,
  ServerStart,
  WatchdogAnswer,
  WatchdogRequest,
} from "./watchdog-messages.ts";

const folders = new Set<string>();
const programs = new Map<number, ChildProgram>();

function open(start: ProgramStart, endSignal?: NodeJS.Signals): ChildProgram {
  const program = new ChildProgram(start, endSignal);
  if (program.pid !== undefined) programs.set(program.pid, program);
  void program.exited.then(() => programs.delete(program.pid ?? 0));
  return program;
}

async function run(start: ProgramStart, limitMs: number): Promise<string> {
  const program = open(start);
  try {
    return await program.succeeds(limitMs);
  } finally {
    await program.end("SIGKILL");
  }
}

async function startServer(start: ServerStart, limitMs: number): Promise<number | undefined> {
  const program = open(start, start.endSignal);
  try {
    await program.says(new RegExp(start.readyPattern), limitMs);
    return program.pid;
  } catch (error) {
    await program.end("SIGKILL");
    throw error;
  }
}

async function makeFolder(name: string, owner: { uid: number; gid: number } | undefined): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `bq-test-${name}-`));
  folders.add(folder);
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  return folder;
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  folders.delete(folder);
}

async function answer(request: WatchdogRequest): Promise<string | number | undefined> {
  switch (request.do) {
    case "make-folder":
      return makeFolder(request.name, request.owner);
    case "remove-folder":
      return void removeFolder(request.folder);
    case "run":
      return run(request.start, request.limitMs);
    case "start":
      return startServer(request.start, request.limitMs);
    case "signal":
      return void programs.get(request.pid)?.signal(request.signal);
    case "end":
      return void (await programs.get(request.pid)?.end(request.signal));
  }
}

function reply(message: WatchdogAnswer): void {
  // The test process may be gone by now; then "disconnect" does the rest.
  if (process.connected) process.send?.(message, () => {});
}

let leaving = false;

async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  await Promise.allSettled([...programs.values()].map((program) => program.end()));
  try {
    for (const folder of folders) removeFolder(folder);
  } finally {
    process.exit();
  }
}

process.on("message", ({ number, request }: NumberedRequest) => {
  answer(request).then(
    (value) => reply({ number, value }),
    (error: unknown) => reply({ number, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", leave);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
