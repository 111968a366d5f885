import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import {
  add,
  npm,
  type PackageManager,
  pnpm,
  runNode,
  yarnBerry,
  yarnClassic,
} from "../src/project/package-manager.ts";
import { newProject, writeFiles } from "../src/project/project.ts";

const core = "@bq/idempotency-core";
const backends = [
  { backend: "@bq/idempotency-redis", driver: "ioredis", store: "RedisStore" },
  { backend: "@bq/idempotency-postgres", driver: "postgres", store: "PostgresStore" },
  { backend: "@bq/idempotency-sqlite", driver: "better-sqlite3", store: "SqliteStore" },
] as const;
const drivers = backends.map(({ driver }) => driver);

/** Deliver a message twice, and load every store that is named. */
const use = (stores: readonly string[]) => `
  const handler = (message) => "ran " + message.meta.id;
  const deliver = core.wrap(new core.InMemoryStore(), handler);
  const message = { meta: { id: "#1" } };
  Promise.all([deliver(message).then(async (first) => [first, await deliver(message)]), ...loaded]).then(
    ([deliveries, ...modules]) => {
      const stores = modules.map((module, index) => typeof module[${JSON.stringify(stores)}[index]].connect);
      console.log(JSON.stringify({ deliveries, stores }));
    },
  );`;

function programs(used: readonly { backend: string; store: string }[]): Record<string, string> {
  const packages = used.map(({ backend }) => backend);
  const body = use(used.map(({ store }) => store));
  const imported = packages.map((name) => `import("${name}")`).join(", ");
  const required = packages.map((name) => `require("${name}")`).join(", ");
  return {
    "use.mjs": `import * as core from "${core}";\nconst loaded = [${imported}];\n${body}`,
    "use.cjs": `const core = require("${core}");\nconst loaded = [${required}];\n${body}`,
  };
}

async function expectUsable(
  manager: PackageManager,
  folder: string,
  used: typeof backends | [(typeof backends)[number]],
) {
  writeFiles(folder, programs(used));
  const expected = { deliveries: ["ran #1", null], stores: used.map(() => "function") };
  for (const program of ["use.mjs", "use.cjs"]) {
    expect(JSON.parse(await runNode(manager, folder, [program]))).toEqual(expected);
  }
}

async function install(manager: PackageManager, packages: readonly string[]): Promise<string> {
  const folder = newProject(inject("folder"));
  manager.setUp(folder, inject("registryUrl"));
  await add(manager, folder, packages);
  return folder;
}

function installedPackages(folder: string): string[] {
  return readdirSync(join(folder, "node_modules")).flatMap((name) =>
    name.startsWith("@")
      ? readdirSync(join(folder, "node_modules", name)).map((inner) => `${name}/${inner}`)
      : [name],
  );
}

describe.concurrent("installed by npm", { timeout: 120_000 }, () => {
  it("core comes alone", async () => {
    const folder = await install(npm, [core]);
    expect(installedPackages(folder).filter((name) => !name.startsWith("."))).toEqual([core]);
  });

  it.for(backends)("$backend brings no driver but its own, and works by import and require", async (used) => {
    const folder = await install(npm, [core, used.backend, used.driver]);
    const installed = installedPackages(folder);
    expect(installed.filter((name) => (drivers as readonly string[]).includes(name))).toEqual([used.driver]);
    expect(installed.filter((name) => name.startsWith("@bq/")).sort()).toEqual([core, used.backend].sort());
    await expectUsable(npm, folder, [used]);
  });
});

describe.concurrent("installed all together", { timeout: 120_000 }, () => {
  it.for([pnpm, yarnClassic, yarnBerry])(
    "by $name, the packages work by import and require",
    async (manager) => {
      const folder = await install(manager, [
        core,
        ...backends.flatMap(({ backend, driver }) => [backend, driver]),
      ]);
      await expectUsable(manager, folder, backends);
    },
  );
});
