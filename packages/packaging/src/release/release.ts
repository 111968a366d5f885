// Shows the next release, or makes it: pnpm release, see README.md.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { workspace } from "../workspace.ts";
import { planRelease } from "./plan.ts";
import { repositoryUrl } from "./repository-url.ts";
import { showPlan } from "./show.ts";
import { stamp } from "./stamp.ts";

const { publish, repository } = readArguments();
if (publish) {
  stamp(workspace, repositoryUrl(repository, process.env));
  const changeset = join(workspace, "node_modules/.bin/changeset");
  process.exitCode = spawnSync(changeset, ["publish"], { cwd: workspace, stdio: "inherit" }).status ?? 1;
} else {
  const tarballs = fileURLToPath(new URL("../../dist/", import.meta.url));
  rmSync(tarballs, { recursive: true, force: true });
  console.log(showPlan(await planRelease(tarballs)));
}

function readArguments(): { publish?: boolean; repository?: string } {
  try {
    const options = { publish: { type: "boolean" }, repository: { type: "string" } } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: pnpm release [--publish [--repository URL]]`);
    process.exit(2);
  }
}
