import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWorkers } from "./fleet/worker-process.ts";

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Makes the folder of a run. It is gone when this process ends, after Ctrl-C, too, unless it was asked for by name; and before
 * it the workers, which would write on in it.
 */
export function makeRunFolder(name: string | undefined): string {
  const folder = name ?? mkdtempSync(join(tmpdir(), "bq-chaos-"));
  mkdirSync(folder, { recursive: true });
  process.on("exit", () => {
    endWorkers();
    if (name === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const [signal, code] of Object.entries(exitCodes)) process.on(signal, () => process.exit(code));
  return folder;
}
