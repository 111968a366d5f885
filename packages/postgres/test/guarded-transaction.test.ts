// A connection that dies inside a transaction. With the driver alone the rest of the work runs on its next connection, outside
// the transaction, or the process ends with an exception that nobody can catch.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type { SceneOutcome } from "./guarded-scenes.ts";
import { sharedUrl } from "./support/database.ts";

const worker = fileURLToPath(new URL("guarded-scenes.ts", import.meta.url));

it("a connection that dies ends the transaction in an error and keeps nothing, and the process and the pool live on", async () => {
  const child = spawn(process.execPath, ["--conditions=@bq/source", worker, sharedUrl]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const printed = { out: "", err: "" };
  child.stdout.on("data", (text) => (printed.out += text));
  child.stderr.on("data", (text) => (printed.err += text));
  const [exitCode] = await once(child, "close");

  expect(printed.err).toBe("");
  expect(exitCode).toBe(0);
  const outcomes = printed.out.trim().split("\n");
  // Five deaths, four kinds of statement, a pool of 1 and of 2.
  expect(outcomes).toHaveLength(40);
  const expected = { error: "StoreError BQ_STORE_FAILED", leftBehind: [], poolWorks: true };
  for (const line of outcomes) {
    const { scene, ...outcome } = JSON.parse(line) as SceneOutcome;
    expect(outcome, scene).toEqual(expected);
  }
}, 60_000);
