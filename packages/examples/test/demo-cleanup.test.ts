import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startDemo, temporaryFolder } from "./demo-process.ts";

/** Long enough that nothing is over before the signal comes. */
const longLog = Array.from({ length: 20_000 }, (_, index) => `{"meta":{"id":"${index}"}}\n`).join("");

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20);
}

/** Starts the demo with a temporary folder of its own; resolves when its worker writes into it. */
async function startWorking(): Promise<{ demo: ChildProcess; folder: string }> {
  const folder = temporaryFolder();
  const demo = startDemo(["-"], { stdin: longLog, env: { TMPDIR: folder } });
  const files = () => readdirSync(folder, { recursive: true }).map(String);
  await until(() => files().some((name) => name.endsWith("ledger.jsonl")));
  return { demo, folder };
}

/** Processes that were started with this folder in their command line. */
function workersOn(folder: string): string[] {
  const processes = execFileSync("ps", ["-A", "-o", "stat=,args="], { encoding: "utf8" }).split("\n");
  return processes.filter((line) => line.includes(folder) && !line.startsWith("Z"));
}

describe("the demo cleans up", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "after %s: no worker, no folder, and the exit code that goes with it",
    async (signal, code) => {
      const { demo, folder } = await startWorking();
      expect(workersOn(folder)).toHaveLength(1);
      demo.kill(signal);
      expect(await once(demo, "close")).toEqual([code, null]);
      await until(() => workersOn(folder).length === 0);
      expect(readdirSync(folder)).toEqual([]);
    },
    60_000,
  );

  it("when it is killed itself: its worker ends and takes the folder with it", async () => {
    const { demo, folder } = await startWorking();
    demo.kill("SIGKILL");
    await once(demo, "exit");
    await until(() => workersOn(folder).length === 0 && readdirSync(folder).length === 0);
  }, 60_000);

  it("when its reader has seen enough: it ends without a complaint", async () => {
    const folder = temporaryFolder();
    const demo = startDemo(["-"], { stdin: '{"meta":{"id":"a"}}', env: { TMPDIR: folder } });
    let complaints = "";
    demo.stderr?.on("data", (chunk) => {
      complaints += chunk;
    });
    demo.stdout?.destroy();
    expect(await once(demo, "close")).toEqual([0, null]);
    expect(complaints).toBe("");
    expect(readdirSync(folder)).toEqual([]);
  }, 60_000);
});
