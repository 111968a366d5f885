import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { type PublishedPackage, requireBuilt, workspace } from "./packages.ts";

/** Packs the packages as publishing them would; answers with the bytes of all files in each one's tarball, which is what lies in node_modules then. */
export async function unpackedBytes(packages: readonly PublishedPackage[]): Promise<number[]> {
  packages.forEach(requireBuilt);
  const destination = await mkdtemp(join(tmpdir(), "bq-pack-"));
  try {
    const [program, ...args] = await pnpm();
    const filters = packages.flatMap(({ name }) => ["--filter", name]);
    const pack = [...args, ...filters, "pack", "--pack-destination", destination];
    await promisify(execFile)(program, pack, { cwd: workspace });
    const tarballs = await readdir(destination);
    return await Promise.all(
      packages.map(async ({ name }) => {
        const start = `${name.replace("@", "").replace("/", "-")}-`;
        const tarball = tarballs.find((file) => file.startsWith(start));
        if (tarball === undefined) throw new Error(`pnpm pack left no tarball of ${name}.`);
        return fileBytes(gunzipSync(await readFile(join(destination, tarball))));
      }),
    );
  } finally {
    await rm(destination, { recursive: true, force: true });
  }
}

/** The pnpm that runs this program or, outside of it, the one that the workspace names. */
async function pnpm(): Promise<readonly [string, ...string[]]> {
  const running = process.env.npm_execpath;
  if (running?.includes("pnpm")) {
    return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
  }
  const root = JSON.parse(await readFile(join(workspace, "package.json"), "utf8"));
  return ["npx", "-y", String(root.packageManager)];
}

/** The files of a tar archive: a block of 512 bytes that describes each, then its content in whole blocks. */
function fileBytes(archive: Buffer): number {
  let sum = 0;
  for (let at = 0; archive[at] !== undefined && archive[at] !== 0; ) {
    const bytes = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8);
    const isFile = archive.toString("latin1", at + 156, at + 157) === "0";
    if (isFile) sum += bytes;
    at += 512 + Math.ceil(bytes / 512) * 512;
  }
  return sum;
}
