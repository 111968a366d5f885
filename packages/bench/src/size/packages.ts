import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A package that users install. */
export interface PublishedPackage {
  readonly name: string;
  /** The name without what all of them begin with. */
  readonly short: string;
  /** Absolute. */
  readonly folder: string;
  /** What the user installs beside it, as a peer dependency. */
  readonly driver: string | undefined;
}

/** The root of the workspace. */
export const workspace: string = fileURLToPath(new URL("../../../..", import.meta.url));

function published(short: string, driver?: string): PublishedPackage {
  return { name: `@bq/idempotency-${short}`, short, folder: resolve(workspace, "packages", short), driver };
}

export const core: PublishedPackage = published("core");

export const stores: readonly PublishedPackage[] = [
  published("redis", "ioredis"),
  published("postgres", "postgres"),
  published("sqlite", "better-sqlite3"),
];

/** What is measured is what was built; sources that changed since then are not seen. @throws Error when nothing was built */
export function requireBuilt({ name, folder }: PublishedPackage): void {
  if (existsSync(resolve(folder, "dist/index.mjs"))) return;
  throw new Error(`${name} is not built. Run "pnpm build" in the root of the workspace first.`);
}
