import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Makes a folder that is gone when the process ends, also after Ctrl-C: then the worker, which would write on in it, is
 * ended first by `endWorker`.
 */
export function makeTemporaryFolder(endWorker: () => void): string {
  const folder = mkdtempSync(join(tmpdir(), "bq-demo-"));
  process.on("exit", () => {
    endWorker();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const [signal, code] of Object.entries(exitCodes)) process.on(signal, () => process.exit(code));
  return folder;
}
