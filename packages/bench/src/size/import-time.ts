import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Spread, spread } from "../statistics.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** How long importing a module takes in a process that has loaded nothing yet, in milliseconds. */
export async function importMs(module: string, processes: number): Promise<Spread> {
  const program = `
    const startedAt = performance.now();
    await import(${JSON.stringify(module)});
    console.log(performance.now() - startedAt);`;
  const tookMs: number[] = [];
  for (let n = 0; n < processes; n++) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { cwd: here },
    );
    tookMs.push(Number(stdout));
  }
  return spread(tookMs);
}
