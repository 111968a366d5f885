import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.ts";

/** A program that users install packages with. */
export interface PackageManager {
  readonly name: string;
  /** Writes what the project must say so that our scope comes from the registry of the test. */
  readonly setUp: (folder: string, registryUrl: string) => void;
  /** What a user types, without the names of the packages. */
  readonly add: readonly [string, ...string[]];
  /** What stands before `node` where the packages are in no folder that Node looks into by itself. */
  readonly runner: readonly string[];
}

const SCOPE = "@bq";

function npmrc(folder: string, registryUrl: string): void {
  writeFileSync(join(folder, ".npmrc"), `${SCOPE}:registry=${registryUrl}/\nignore-scripts=true\n`);
}

function yarnrc(folder: string, registryUrl: string): void {
  // No scripts, as everywhere here: ours have none, and those of the drivers would only compile what is there already.
  const lines = [
    "nodeLinker: pnp",
    "enableScripts: false",
    "enableTelemetry: false",
    "enableImmutableInstalls: false",
    "unsafeHttpWhitelist: [127.0.0.1]",
    ...asNpm("npmRegistryServer", "registry"),
    ...asNpm("httpsCaFilePath", "cafile"),
    "npmScopes:",
    `  ${SCOPE.slice(1)}:`,
    `    npmRegistryServer: "${registryUrl}"`,
  ];
  writeFileSync(join(folder, ".yarnrc.yml"), `${lines.join("\n")}\n`);
  writeFileSync(join(folder, "yarn.lock"), "");
}

/** Where npm fetches from on this machine, and what it trusts: yarn 4 reads no npmrc. */
function asNpm(setting: string, npmSetting: string): string[] {
  const value = execFileSync("npm", ["config", "get", npmSetting], { encoding: "utf8" }).trim();
  return value === "" || value === "null" || value === "undefined"
    ? []
    : [`${setting}: ${JSON.stringify(value)}`];
}

export const npm: PackageManager = {
  name: "npm",
  setUp: npmrc,
  add: ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"],
  runner: [],
};

export const pnpm: PackageManager = {
  name: "pnpm",
  setUp: npmrc,
  add: ["npx", "-y", "pnpm@10", "add", "--prefer-offline"],
  runner: [],
};

export const yarnClassic: PackageManager = {
  name: "yarn 1",
  setUp: npmrc,
  add: ["npx", "-y", "yarn@1", "add", "--non-interactive", "--prefer-offline"],
  runner: [],
};

const berry = ["npx", "-y", "-p", "@yarnpkg/cli-dist@4", "yarn"] as const;

/** With Plug'n'Play, the strictest of all: a package can load only what it declares. */
export const yarnBerry: PackageManager = {
  name: "yarn 4 with Plug'n'Play",
  setUp: yarnrc,
  add: [...berry, "add"],
  runner: berry,
};

/** Adds packages to the project in that folder, as a user would, with `env` beside the user's own environment. */
export async function add(
  manager: PackageManager,
  folder: string,
  packages: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [program, ...args] = manager.add;
  await run(program, [...args, ...packages], { folder, env: { ...ofAUser(), ...env } });
}

/** Runs a program of the project on the Node of this test; resolves to what it printed. */
export async function runNode(
  manager: PackageManager,
  folder: string,
  args: readonly string[],
): Promise<string> {
  const [program, ...rest] = [...manager.runner, "node", ...args] as [string, ...string[]];
  return (await run(program, rest, { folder, env: ofAUser() })).stdout;
}

/** The package manager that started this test speaks to its children through the environment; a user's does not hear it. */
function ofAUser(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => /^(npm|pnpm|yarn)_|^NODE_OPTIONS$/i.test(name));
  return Object.fromEntries(
    names.filter((name) => !/registry|nodedir|cafile|proxy/i.test(name)).map((name) => [name, undefined]),
  );
}
