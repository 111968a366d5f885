import { existsSync } from "node:fs";
import { join } from "node:path";
import { publishedOf, workspace } from "@bq/idempotency-packaging/workspace";

/** One thing that users can import. */
export interface EntryPoint {
  /** What stands in an import, such as `@bq/idempotency-core/backend`. */
  readonly name: string;
  /** Absolute folder of its package. */
  readonly packageFolder: string;
  /** Its source, absolute. */
  readonly source: string;
  /** What a user's compiler reads of it, absolute. Made by the build. */
  readonly types: string;
}

interface Conditions {
  readonly "@bq/source": string;
  readonly import: { readonly types: string };
}

/** Every entry point of every published package, in the order of their names. */
export function entryPoints(): EntryPoint[] {
  const found = publishedOf().flatMap(({ manifest, folder }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
      // Data, such as a manifest, has no types.
      if (typeof target === "string") return [];
      const packageFolder = join(workspace, folder);
      const { "@bq/source": source, import: imported } = target as Conditions;
      return {
        name: manifest.name + subpath.slice(1),
        packageFolder,
        source: join(packageFolder, source),
        types: join(packageFolder, imported.types),
      };
    }),
  );
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @throws Error when an entry point was not built: what is reported is what users get. */
export function requireBuilt(points: readonly EntryPoint[]): void {
  const missing = points.find(({ types }) => !existsSync(types));
  if (missing)
    throw new Error(`${missing.name} is not built. Run "pnpm build" in the root of the workspace first.`);
}
