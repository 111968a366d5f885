import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startRegistry } from "../src/registry.ts";
import { type PlannedRelease, planRelease } from "../src/release/plan.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The release that waits, with its tarballs. */
    release: readonly PlannedRelease[];
    /** A registry that serves those tarballs. */
    registryUrl: string;
    /** A folder for the projects of a test; it is removed after the run. */
    folder: string;
  }
}

/** Packs once for all test files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "bq-packaging-"));
  const release = await planRelease(join(folder, "tarballs"));
  const registry = await startRegistry(release.map(({ tarball }) => tarball));
  project.provide("release", release);
  project.provide("registryUrl", registry.url);
  project.provide("folder", folder);
  return async () => {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
