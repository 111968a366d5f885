import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpm } from "../pnpm.ts";
import { run } from "../run.ts";
import { publishedOf, workspace } from "../workspace.ts";
import { copyWorkspace } from "./copy-workspace.ts";

/** What the next release makes of one package. */
export interface PlannedRelease {
  readonly name: string;
  /** Relative to the root of the workspace. */
  readonly folder: string;
  /** The version of today. */
  readonly from: string;
  /** The version to come; the same as `from` when nothing changed. */
  readonly to: string;
  /** What its changelog gets, in Markdown; empty when nothing changed. */
  readonly changes: string;
  /** Absolute path of what would be uploaded. */
  readonly tarball: string;
}

/**
 * Does in a copy what a release does, up to the upload: raises the versions by the changesets, writes the changelogs and packs
 * every published package. The work tree stays as it is.
 *
 * @param tarballs the folder that the tarballs are put into
 */
export async function planRelease(tarballs: string): Promise<PlannedRelease[]> {
  mkdirSync(tarballs, { recursive: true });
  const copy = mkdtempSync(join(tmpdir(), "bq-release-"));
  try {
    await copyWorkspace(copy);
    const before = publishedOf(copy);
    await run(join(workspace, "node_modules/.bin/changeset"), ["version"], { folder: copy });
    await pack(
      before.map(({ manifest }) => manifest.name),
      copy,
      tarballs,
    );
    const after = publishedOf(copy);
    return before.map(({ manifest: { name, version: from }, folder }, index) => {
      const to = after[index]?.manifest.version ?? from;
      const changes = to === from ? "" : newestChanges(join(copy, folder, "CHANGELOG.md"), to);
      return { name, folder, from, to, changes, tarball: join(tarballs, tarballName(name, to)) };
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function pack(names: readonly string[], root: string, tarballs: string): Promise<void> {
  const filters = names.flatMap((name) => ["--filter", name]);
  await pnpm([...filters, "pack", "--pack-destination", tarballs], root);
}

function tarballName(name: string, version: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/** The part of a changelog under the heading of that version. */
function newestChanges(changelog: string, version: string): string {
  if (!existsSync(changelog))
    throw new Error(`There is no ${changelog}, although version ${version} is new.`);
  const [, rest = ""] = readFileSync(changelog, "utf8").split(`\n## ${version}\n`);
  return rest.split(/\n## /)[0]?.trim() ?? "";
}
