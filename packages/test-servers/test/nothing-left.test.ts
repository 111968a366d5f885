import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../src/until.ts";
import { processesBelow } from "./processes.ts";

vi.setConfig({ testTimeout: 120_000 });

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bq-nothing-left-"));
  // The servers that do not run as root must get to their own folders in it.
  chmodSync(folder, 0o755);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program that starts servers, with a temporary folder of its own, up to the point where they are ready. */
async function start(way: string) {
  const program = fileURLToPath(new URL("./start-and-end.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@bq/source", program, way], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "ignore"],
    // A process group, as a terminal makes one for a command.
    detached: true,
  });
  const ended = once(child, "exit");
  await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => expect.fail("ended before it was ready")),
  ]);
  return { child, ended };
}

async function expectNothingLeft() {
  await until(`no process works below ${folder}`, () => processesBelow(folder).length === 0);
  await until(`${folder} is empty`, () => readdirSync(folder).length === 0);
}

test.each([
  ["SIGKILL", "is-killed"],
  ["SIGINT", "is-interrupted"],
  ["SIGTERM", "is-terminated"],
  ["SIGKILL", "killed-with-paused-servers"],
] as const)("nothing is left of the servers after %s to the test process (%s)", async (signal, way) => {
  const { child, ended } = await start(way);
  expect(processesBelow(folder).length).toBeGreaterThan(3);
  expect(readdirSync(folder).length).toBeGreaterThan(2);
  // A terminal signals all that the command has started.
  if (signal === "SIGINT") process.kill(-(child.pid ?? 0), signal);
  else child.kill(signal);
  await ended;
  await expectNothingLeft();
});

test.each(["throws", "rejects", "exits"])(
  "nothing is left of the servers when the test process %s",
  async (way) => {
    const { ended } = await start(way);
    expect(await ended).not.toEqual([0, null]);
    await expectNothingLeft();
  },
);

test("nothing is left when the test process is killed while servers start", async () => {
  for (const afterMs of [150, 400, 900]) {
    const { child, ended } = await start("killed-while-starting");
    // Not a wait for something: the kill has to hit some moment of the start.
    await delay(afterMs);
    child.kill("SIGKILL");
    await ended;
    await expectNothingLeft();
  }
});
