import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 });

const command = fileURLToPath(new URL("../src/chaos.ts", import.meta.url));

/** The processes whose environment names this folder. */
function processesWith(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${folder}\0`)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
    } catch {
      return [];
    }
  });
}

it.runIf(process.platform === "linux").each(["SIGINT", "SIGKILL"] as const)(
  "when the harness ends by %s, in the middle of a run, no process of it stays",
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), "bq-chaos-left-"));
    // The servers that refuse to run as root run as somebody else.
    chmodSync(folder, 0o755);
    const narrow = ["--minutes", "1", "--broker", "bullmq", "--store", "sqlite", "--mode", "wrap"];
    const child = spawn(process.execPath, ["--conditions=@bq/source", command, ...narrow], {
      env: { ...process.env, TMPDIR: folder },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const workers = () => processesWith(folder).filter((each) => each.includes("worker.ts"));
    const limit = { timeout: 60_000, interval: 100 };
    await expect.poll(() => workers().length, limit).toBeGreaterThan(1);
    child.kill(signal);
    await ended;
    await expect.poll(() => processesWith(folder), limit).toEqual([]);
    // After SIGKILL nobody is left who could remove the logs.
    if (signal === "SIGINT") expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  },
);
