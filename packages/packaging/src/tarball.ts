import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** The files of a package's tarball, by their path inside the package. */
export type TarballFiles = ReadonlyMap<string, Buffer>;

const BLOCK = 512;
/** npm puts everything into a folder of this name. */
const ROOT = "package/";

/** Reads a tarball as `pnpm pack` writes it: blocks of 512 bytes, one that describes a file and then its content. */
export function readTarball(path: string): TarballFiles {
  const archive = gunzipSync(readFileSync(path));
  const files = new Map<string, Buffer>();
  for (let at = 0; at < archive.length && archive[at] !== 0; ) {
    const text = (from: number, length: number) =>
      archive.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const bytes = Number.parseInt(text(124, 12), 8);
    const [prefix, name] = [text(345, 155), text(0, 100)];
    const entry = prefix === "" ? name : `${prefix}/${name}`;
    const content = at + BLOCK;
    if (text(156, 1) === "0") files.set(entry.slice(ROOT.length), archive.subarray(content, content + bytes));
    at = content + Math.ceil(bytes / BLOCK) * BLOCK;
  }
  return files;
}
