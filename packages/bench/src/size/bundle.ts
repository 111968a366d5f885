import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

export interface Bundle {
  /** After bundling and minifying, before compression. */
  readonly minifiedBytes: number;
  readonly gzippedBytes: number;
  /** Every module that stayed outside. */
  readonly imports: readonly string[];
}

const entry = "entry.mjs";
const here = fileURLToPath(import.meta.url);

/**
 * Bundles and minifies what a user's program takes of a package, as its build for `import` gives it, and compresses the result
 * (gzip, level 9). Node's own modules and those named in `external` stay outside.
 *
 * @param source the user's program, such as `export { wrap } from "@bq/idempotency-core"`
 */
export async function bundle(source: string, external: readonly string[] = []): Promise<Bundle> {
  const isOutside = (id: string) =>
    isBuiltin(id) || external.some((name) => id === name || id.startsWith(`${name}/`));
  const build = await rolldown({
    input: entry,
    platform: "node",
    external: isOutside,
    plugins: [
      {
        name: "users-program",
        resolveId(id) {
          if (id === entry) return entry;
          // The program stands in no folder; packages are looked up from this one.
          return isOutside(id) ? null : this.resolve(id, here, { skipSelf: true });
        },
        load: (id) => (id === entry ? source : null),
      },
    ],
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true });
    const chunks = output.filter((part) => part.type === "chunk");
    const code = chunks.map((chunk) => chunk.code).join("\n");
    return {
      minifiedBytes: Buffer.byteLength(code),
      gzippedBytes: gzipSync(code, { level: 9 }).length,
      imports: [...new Set(chunks.flatMap((chunk) => chunk.imports))].sort(),
    };
  } finally {
    await build.close();
  }
}
