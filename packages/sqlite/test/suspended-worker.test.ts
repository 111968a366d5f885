import { fork } from "node:child_process";
import { on, once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { openStore, temporaryFile } from "./support/temporary.ts";

/** A worker process that is in the middle of its handler. */
async function startWorker(...parameters: string[]) {
  const child = fork(new URL("workers/suspended.ts", import.meta.url), parameters, {
    execArgv: ["--conditions=@bq/source"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const told: string[] = [];
  child.on("message", (what: string) => told.push(what));
  await once(child, "message");
  return { child, told };
}

for (const [end, outcome, expected] of [
  ["succeeds", "ran", { status: "processed" }],
  ["fails", "failed", { status: "in-flight" }],
] as const) {
  it(`a worker that was suspended past its lease learns it when it wakes up, and leaves its successor's claim alone (it ${end})`, {
    timeout: 60_000,
  }, async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    const { child, told } = await startWorker(path, end);
    expect(told).toEqual(["started"]);
    child.kill("SIGSTOP");
    await expect
      .poll(async () => (await store.claim("id", 600_000)).status, { timeout: 30_000 })
      .toBe("claimed");
    child.kill("SIGCONT");
    const messages = on(child, "message");
    while (!told.includes("BQ_CLAIM_LOST")) await messages.next();
    child.send("go on");
    await once(child, "exit");
    expect(told).toEqual(["started", "BQ_CLAIM_LOST", "claim-lost", outcome, "settled"]);
    expect(await store.claim("id", 1_000)).toMatchObject(expected);
  });
}
