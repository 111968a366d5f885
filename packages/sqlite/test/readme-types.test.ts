import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import "./support/temporary.ts";

/** What the examples take from the reader's program, or from an example before them. */
const given: Readonly<Record<string, string>> = {
  charge: "(order: Order) => Promise<void>",
  store: 'import("@bq/idempotency-sqlite").SqliteStore',
  database: 'import("better-sqlite3").Database',
  id: "string",
  sku: "string",
};

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The example as a module of its own. */
function asModule(example: string): string {
  const names = Object.keys(given).filter((name) => !example.includes(`const ${name} =`));
  return `interface Order { orderId: string }\n${names.map((name) => `declare const ${name}: ${given[name]};\n`).join("")}${example}\nexport {};\n`;
}

it("every TypeScript example of the README is typed as it stands", () => {
  const readme = readFileSync(here("../README.md"), "utf8");
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example = ""]) => example);
  expect(examples.length).toBeGreaterThan(3);

  const folder = mkdtempSync(join(tmpdir(), "bq-sqlite-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules", "@bq"), { recursive: true });
  symlinkSync(here(".."), join(folder, "node_modules", "@bq", "idempotency-sqlite"));
  symlinkSync(here("../../core"), join(folder, "node_modules", "@bq", "idempotency-core"));
  symlinkSync(here("../node_modules/@types"), join(folder, "node_modules", "@types"));
  const files = examples.map((example, place) => {
    writeFileSync(join(folder, `example-${place}.ts`), asModule(example));
    return `example-${place}.ts`;
  });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const config = {
    extends: here("../../../tsconfig.base.json"),
    compilerOptions: { noUnusedLocals: false, types: [], declaration: false, isolatedDeclarations: false },
    files,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = here("../../../node_modules/typescript/bin/tsc");
  const { stdout, stderr } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(stdout + stderr).toBe("");
});
