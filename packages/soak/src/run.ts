import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startRedis } from "@bq/idempotency-test-servers";
import type { Scene } from "./scene.ts";
import type { Watched } from "./watch.ts";

const sceneProcess = fileURLToPath(new URL("scene-process.ts", import.meta.url));

/** Runs a scene in a process of its own, on a server of its own where it needs one. */
export async function runScene(scene: Scene, deliveries: number): Promise<Watched> {
  if (scene.backend === "memory") return inProcess(scene, deliveries, "");
  await using server = await startRedis();
  return await inProcess(scene, deliveries, server.url);
}

async function inProcess({ name }: Scene, deliveries: number, url: string): Promise<Watched> {
  const args = [...process.execArgv, sceneProcess, name, String(deliveries), url];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  process.stderr.write(stderr);
  return JSON.parse(stdout) as Watched;
}
