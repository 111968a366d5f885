import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Makes an empty project in a new folder below `parent`. */
export function newProject(parent: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(parent, "project-"));
  writeFiles(folder, {
    "package.json": JSON.stringify({ name: "a-users-project", private: true, ...fields }),
  });
  return folder;
}

/** Writes files, by their path below the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
