import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Signals a process and all that descend from it. A process group would not do: every backend of Postgres makes itself the
 * leader of a new one. The root goes first, so that it cannot start another child meanwhile.
 */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  if (signal === "SIGKILL") sendSignal(root, "SIGSTOP");
  const descendants = descendantsOf(root);
  for (const pid of [root, ...descendants]) sendSignal(pid, signal);
}

/** Signals one process; one that is gone already is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function descendantsOf(root: number): number[] {
  const children = childrenByParent();
  const found: number[] = [];
  const open = [root];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const own = children.get(parent) ?? [];
    found.push(...own);
    open.push(...own);
  }
  return found;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const [pid, parent] of process.platform === "linux" ? pairsFromProc() : pairsFromPs()) {
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

/** Linux: a slim image has no `ps`. */
function pairsFromProc(): [pid: number, parent: number][] {
  const pairs: [number, number][] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // "pid (command) state parent …", and the command may hold spaces and parentheses.
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      pairs.push([Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])]);
    } catch {
      // Ended while we read.
    }
  }
  return pairs;
}

function pairsFromPs(): [pid: number, parent: number][] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid, parent] = line.trim().split(/\s+/);
    return [Number(pid), Number(parent)];
  });
}
