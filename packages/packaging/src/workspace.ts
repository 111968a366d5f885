import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What is read here of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package of the workspace. */
export interface WorkspacePackage {
  readonly manifest: Manifest;
  /** Relative to the root of the workspace, such as `packages/core`. */
  readonly folder: string;
}

/** The root of this workspace. */
export const workspace: string = fileURLToPath(new URL("../../..", import.meta.url));

/** Every package below `root`, which is this workspace or a copy of it. */
export function packagesOf(root: string = workspace): WorkspacePackage[] {
  const folders = [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "conformance"];
  return folders
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => ({ folder, manifest: readManifest(join(root, folder)) }));
}

/** Those that users install. */
export function publishedOf(root: string = workspace): WorkspacePackage[] {
  return packagesOf(root).filter(({ manifest }) => manifest.private !== true);
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
