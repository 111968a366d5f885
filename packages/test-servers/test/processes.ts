import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The processes that work in this folder or below, whatever they call themselves. One that only waits to be reaped has no folder. */
export function processesBelow(folder: string): string[] {
  return process.platform === "linux" ? fromProc(folder) : fromLsof(folder);
}

function fromProc(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
    } catch {
      return [];
    }
  });
}

function fromLsof(folder: string): string[] {
  const lines = execFileSync("lsof", ["-d", "cwd", "-F", "pn"], { encoding: "utf8" }).split("\n");
  const working = (line: string) => line.startsWith("n") && line.slice(1).startsWith(folder);
  return lines.flatMap((line, index) => (working(line) ? [lines[index - 1] ?? line] : []));
}
