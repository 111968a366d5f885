import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./demo-process.ts";

/** A folder with `example.ts` in it, and the packages installed. */
export class ExampleProject {
  readonly folder: string = temporaryFolder();

  constructor(example: string) {
    symlinkSync(
      fileURLToPath(new URL("../node_modules", import.meta.url)),
      join(this.folder, "node_modules"),
    );
    writeFileSync(join(this.folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(this.folder, "example.ts"), example);
  }

  /** Runs the example; answers what it printed. */
  run(): string {
    const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=@bq/source", "example.ts"], {
      cwd: this.folder,
      encoding: "utf8",
    });
    return stdout + stderr;
  }
}
