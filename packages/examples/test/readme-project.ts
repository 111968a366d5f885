import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./demo-process.ts";

/** A folder with `example.ts` in it, and the packages installed. */
export class ExampleProject {
  readonly folder: string = temporaryFolder();

  /** @param declarations what the example leaves to its reader */
  constructor(example: string, declarations = "") {
    symlinkSync(pathOf("../node_modules"), join(this.folder, "node_modules"));
    writeFileSync(join(this.folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(this.folder, "example.ts"), example);
    writeFileSync(join(this.folder, "reader.d.ts"), declarations);
    const config = {
      extends: pathOf("../../../tsconfig.base.json"),
      compilerOptions: {
        typeRoots: [pathOf("../../../node_modules/@types")],
        // What an example makes, its reader goes on to use.
        noUnusedLocals: declarations === "",
      },
      files: ["example.ts", "reader.d.ts"],
    };
    writeFileSync(join(this.folder, "tsconfig.json"), JSON.stringify(config));
  }

  /** Runs the example; answers what it printed. */
  run(): string {
    return this.#node("--conditions=@bq/source", "example.ts");
  }

  /** Compiles the example; answers what the compiler has to say against it. */
  typecheck(): string {
    return this.#node(pathOf("../../../node_modules/typescript/bin/tsc"), "--noEmit", "-p", ".");
  }

  #node(...args: string[]): string {
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: this.folder, encoding: "utf8" });
    return stdout + stderr;
  }
}

/** The TypeScript examples in a README of the workspace, in their order. */
export function examplesIn(readme: string): string[] {
  const text = readFileSync(pathOf(`../../../${readme}`), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example = ""]) => example);
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
