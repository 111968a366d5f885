import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./demo-process.ts";

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const example = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";

/** A project of its own that holds the example and has the packages installed. */
function writeExample(): string {
  const folder = temporaryFolder();
  symlinkSync(pathOf("../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "example.ts"), example);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: pathOf("../../../tsconfig.base.json"),
      compilerOptions: { typeRoots: [pathOf("../../../node_modules/@types")] },
      files: ["example.ts"],
    }),
  );
  return folder;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

describe("the example in the root README", () => {
  it("has at most fifteen lines of code", () => {
    const code = example.split("\n").filter((line) => line.trim() !== "");
    expect(code.length).toBeGreaterThan(5);
    expect(code.length).toBeLessThanOrEqual(15);
  });

  it("runs as it stands, and prints what its comments say: the effect once, and never again after a restart", () => {
    const cwd = writeExample();
    const run = () =>
      execFileSync(process.execPath, ["--conditions=@bq/source", "example.ts"], { cwd, encoding: "utf8" });
    expect(run()).toBe("charged order 1042\n");
    expect(run()).toBe("");
  }, 60_000);

  it("is typed as it stands", () => {
    const compiler = pathOf("../../../node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", writeExample()], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  }, 60_000);
});
