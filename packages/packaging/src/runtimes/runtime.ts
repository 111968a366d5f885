import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { add, npm } from "../project/package-manager.ts";
import { newProject } from "../project/project.ts";
import { workspace } from "../workspace.ts";

export const backends = ["memory", "redis", "postgres", "sqlite"] as const;

export type Backend = (typeof backends)[number];

/** A JavaScript runtime that the packages are to work on, as the npm registry has it. */
export interface Runtime {
  readonly name: string;
  /** What is installed, such as `node@20`. */
  readonly package: string;
  /** The program, below node_modules. */
  readonly program: string;
  /** What stands before the program to run. */
  readonly args: readonly string[];
  /** The file of programs/ that runs the suite there. */
  readonly suite: "with-node-test.mjs" | "without-runner.mjs";
  /** The versions of the drivers. Node 20 has the oldest that the stores accept, the others the newest. */
  readonly drivers: Drivers;
}

interface Drivers {
  readonly redis: string;
  readonly postgres: string;
  readonly sqlite: string;
  /** Must the SQLite driver be compiled where its prebuilt addon cannot be fetched? The newer one ships its addons. */
  readonly compiled: boolean;
}

const oldestDrivers: Drivers = {
  redis: "ioredis@5.3.0",
  postgres: "postgres@3.4.2",
  sqlite: "better-sqlite3@12.0.0",
  compiled: true,
};
const newestDrivers: Drivers = {
  redis: "ioredis@6",
  postgres: "postgres@3",
  sqlite: "better-sqlite3@13",
  compiled: false,
};

function node(major: number, drivers: Drivers): Runtime {
  return {
    name: `Node ${major}`,
    package: `node@${major}`,
    program: "node/bin/node",
    args: [],
    suite: "with-node-test.mjs",
    drivers,
  };
}

export const runtimes: readonly Runtime[] = [
  node(20, oldestDrivers),
  node(22, newestDrivers),
  node(24, newestDrivers),
  node(26, newestDrivers),
  {
    name: "Bun",
    package: "bun@1",
    program: "bun/bin/bun.exe",
    args: [],
    suite: "without-runner.mjs",
    drivers: newestDrivers,
  },
  {
    name: "Deno",
    package: "deno@2",
    program: "deno/deno",
    args: ["run", "--allow-all", "--node-modules-dir=manual"],
    suite: "without-runner.mjs",
    drivers: newestDrivers,
  },
];

/** Fetches the runtime, once for this workspace; resolves to the path of its program. */
export async function fetchRuntime(runtime: Runtime): Promise<string> {
  const cache = join(workspace, "node_modules/.cache/runtimes");
  const folder = join(cache, runtime.package.replace("@", "-"));
  const program = join(folder, "node_modules", runtime.program);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const fresh = newProject(cache);
  await add(npm, fresh, [runtime.package]);
  // Whole or not at all: another process may be looking for it.
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(program)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  if (!existsSync(program)) throw new Error(`${runtime.package} brought no ${runtime.program}.`);
  return program;
}
