import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first of the programs that the PATH leads to. Servers often live in sbin, which the PATH of a plain user lacks. */
export function onPath(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const beside = folders
    .filter((folder) => /[\\/]bin$/.test(folder))
    .map((folder) => join(folder, "..", "sbin"));
  const candidates = names.flatMap((name) => [...folders, ...beside].map((folder) => join(folder, name)));
  return candidates.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
