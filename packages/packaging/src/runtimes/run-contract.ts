import { cpSync, existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { add, npm } from "../project/package-manager.ts";
import { newProject } from "../project/project.ts";
import { run } from "../run.ts";
import { type Backend, fetchRuntime, type Runtime } from "./runtime.ts";

/** Where the packages and the servers of a run are. */
export interface Surroundings {
  readonly folder: string;
  readonly registryUrl: string;
  readonly redisUrl: string;
  readonly postgresUrl: string;
}

/** How the suite went. */
export interface ContractRun {
  readonly version: string;
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

const programs = fileURLToPath(new URL("./programs/", import.meta.url));

/** Installs the packed packages into an empty project and runs the contract suite there, on that runtime. */
export async function runContract(
  runtime: Runtime,
  backends: readonly Backend[],
  { folder: parent, registryUrl, redisUrl, postgresUrl }: Surroundings,
): Promise<ContractRun> {
  const program = await fetchRuntime(runtime);
  const { stdout: version } = await run(program, ["--version"], { folder: parent });
  const folder = newProject(parent);
  npm.setUp(folder, registryUrl);
  // Installed by this Node too, so that what is compiled fits it.
  const path = [dirname(program), process.env.PATH].join(delimiter);
  const scripts = runtime.drivers.compiled && backends.includes("sqlite");
  await add(npm, folder, packagesFor(runtime, backends), {
    ...headersFor(version),
    PATH: path,
    npm_config_ignore_scripts: String(!scripts),
  });
  cpSync(programs, folder, { recursive: true });
  const { code, output } = await run(program, [...runtime.args, runtime.suite, ...backends], {
    folder,
    env: { REDIS_URL: redisUrl, POSTGRES_URL: postgresUrl, NODE_OPTIONS: undefined },
    mayFail: true,
  });
  const passed = count(output, "pass");
  const failed = count(output, "fail");
  // A case that was registered and not counted, or a suite that could not even be loaded, must not pass for that.
  const lost = Math.abs(count(output, "registered") - passed - failed);
  const hidden = code !== 0 && failed === 0 ? 1 : 0;
  return { version: version.split("\n")[0] ?? "", passed, failed: failed + lost + hidden, output };
}

function packagesFor({ drivers }: Runtime, backends: readonly Backend[]): string[] {
  const stores = backends.filter((backend) => backend !== "memory");
  return [
    "@bq/idempotency-core",
    "@bq/idempotency-conformance",
    ...stores.map((store) => `@bq/idempotency-${store}`),
    ...stores.map((store) => drivers[store]),
  ];
}

/** The last count of that kind in the output of node:test, or of our own program. */
function count(output: string, kind: "registered" | "pass" | "fail"): number {
  const counts = [...output.matchAll(new RegExp(`^(?:\\S )?${kind} (\\d+)$`, "gm"))];
  return Number(counts.at(-1)?.[1] ?? 0);
}

/**
 * An addon is compiled against the headers of its Node, which are fetched where that can be done. Those of a Node of the same
 * major version that is installed here do as well.
 */
function headersFor(version: string): Record<string, string> {
  const major = /^v(\d+)/.exec(version)?.[1];
  const found = ["/usr", "/usr/local"].find((prefix) => {
    const header = join(prefix, "include/node/node_version.h");
    return existsSync(header) && readFileSync(header, "utf8").includes(`NODE_MAJOR_VERSION ${major}\n`);
  });
  return found === undefined ? {} : { npm_config_nodedir: found };
}
