import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const variable = "BQ_CHAOS_RUN";
/** A process that was told to end is gone in less than this, in milliseconds. */
const limitMs = 5_000;

/**
 * Marks this process, so that all that it starts from now on, and what those start, can be told from others by its environment.
 * Linux only; elsewhere nothing is found.
 */
export function markProcesses(): string {
  const mark = randomUUID();
  process.env[variable] = mark;
  return mark;
}

/** The processes of this run that are still there, after they have had time to go; those that clear up after us aside. */
export async function findLeftovers(mark: string): Promise<string[]> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = withMark(mark);
    if (found.length === 0 || Date.now() > end) return found;
    await pause(100);
  }
}

function withMark(mark: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`${variable}=${mark}`)) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // The watchdog of the servers ends last, with us.
      return command.includes("watchdog-process") ? [] : [`${pid} ${command}`];
    } catch {
      // Gone while we looked.
      return [];
    }
  });
}
