import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { mutants } from "../mutants/index.ts";
import { allCases, contractCases, type Subject } from "../src/index.ts";
import { binOf } from "./fixtures/built.ts";
import { runProgram } from "./fixtures/run-program.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const exampleStore = new URL("fixtures/example-store.js", import.meta.url);
const readme = readFileSync(join(folder, "README.md"), "utf8");

/** The code block that begins with the name of its file. */
function blockOf(file: string): string {
  const block = readme.split("```js\n").find((text) => text.startsWith(`// ${file}\n`));
  return block?.slice(0, block.indexOf("```")) ?? `there is no ${file}`;
}

describe("the readme", () => {
  it("shows the example store that is tested", () => {
    expect(blockOf("my-store.js")).toBe(readFileSync(exampleStore, "utf8"));
  });

  it("shows a test file that runs as it stands", { timeout: 120_000 }, async () => {
    // Inside the package, so that its own name leads to its sources.
    mkdirSync(join(folder, "reports"), { recursive: true });
    const cwd = mkdtempSync(join(folder, "reports/readme-"));
    try {
      for (const file of ["my-store.js", "my-store.test.js"]) writeFileSync(join(cwd, file), blockOf(file));
      const config = fileURLToPath(new URL("fixtures/source.config.mjs", import.meta.url));
      const args = [binOf("vitest"), "run", "--root", cwd, "--config", config];
      const { code, stdout, stderr } = await runProgram(process.execPath, args, { cwd });
      const { subject } = (await import(exampleStore.href)) as { subject: Subject };
      const { length } = contractCases(subject);
      expect(`${stdout}${stderr}`).toContain(`Tests  ${length} passed (${length})`);
      expect(code).toBe(0);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  it("tells the numbers as they are", () => {
    expect(readme).toContain("more than a hundred broken stores");
    expect(mutants.length).toBeGreaterThan(100);
    expect(allCases.length).toBeGreaterThan(100);
  });
});
