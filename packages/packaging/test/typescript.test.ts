import { beforeAll, describe, expect, inject, it } from "vitest";
import { type CompilerSettings, complaints } from "../src/project/compile.ts";
import { add, npm } from "../src/project/package-manager.ts";
import { newProject } from "../src/project/project.ts";
import { withDrivers, withoutDriver } from "./users-programs.ts";

type Setting = Omit<CompilerSettings, "types">;
const oldest: Setting = { compiler: "typescript-oldest", module: "node16", moduleResolution: "node16" };
const bundled: Setting = { compiler: "typescript", module: "esnext", moduleResolution: "bundler" };
const settings: readonly Setting[] = [
  oldest,
  // What a CommonJS project had by default before TypeScript 6.
  { compiler: "typescript5", module: "commonjs", moduleResolution: "node" },
  { compiler: "typescript5", module: "nodenext", moduleResolution: "nodenext" },
  { compiler: "typescript", module: "nodenext", moduleResolution: "nodenext" },
  bundled,
];

let folder: string;
beforeAll(async () => {
  folder = newProject(inject("folder"));
  npm.setUp(folder, inject("registryUrl"));
  const ours = inject("release").map(({ name }) => name);
  const drivers = ["ioredis", "postgres", "better-sqlite3", "@types/better-sqlite3", "@opentelemetry/api"];
  await add(npm, folder, [...ours, ...drivers]);
}, 120_000);

describe.concurrent("the types, with those of all packages checked", { timeout: 120_000 }, () => {
  it.for(settings)("please $compiler with $moduleResolution, in ESM and in CommonJS", async (setting) => {
    const programs = { "stores.mts": withDrivers, "stores.cts": withDrivers };
    expect(await complaints(folder, programs, { ...setting, types: ["node"] })).toEqual([]);
  });

  it.for([oldest, bundled])("need none of Node's with $compiler, where no driver does", async (setting) => {
    const programs = { "core.mts": withoutDriver, "core.cts": withoutDriver };
    expect(await complaints(folder, programs, { ...setting, types: [] })).toEqual([]);
  });
});
