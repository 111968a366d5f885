import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome, run } from "./run.ts";
import { workspace } from "./workspace.ts";

/** Runs the pnpm that runs this program or, outside of it, the one that the workspace names. */
export function pnpm(args: readonly string[], folder: string): Promise<Outcome> {
  const [program, ...first] = command();
  return run(program, [...first, ...args], { folder });
}

function command(): readonly [string, ...string[]] {
  const running = process.env.npm_execpath;
  if (running?.includes("pnpm")) return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
  const root = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8"));
  return ["npx", "-y", String(root.packageManager)];
}
