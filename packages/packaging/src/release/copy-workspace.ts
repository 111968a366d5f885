import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../run.ts";
import { packagesOf, publishedOf, workspace } from "../workspace.ts";

/**
 * Copies what belongs to the workspace, and what was built of the published packages, so that versions can be raised and
 * packages packed without a trace in the work tree.
 *
 * @throws Error when a package was not built
 */
export async function copyWorkspace(to: string): Promise<void> {
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    folder: workspace,
  });
  // A file that was deleted and not yet committed is still listed.
  const files = stdout.split("\0").filter((file) => file !== "" && existsSync(join(workspace, file)));
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(workspace, file), join(to, file));
  }
  for (const { folder, manifest } of publishedOf()) {
    const built = join(workspace, folder, "dist");
    if (!existsSync(built)) throw new Error(`${manifest.name} is not built. Run "pnpm build" first.`);
    cpSync(built, join(to, folder, "dist"), { recursive: true });
  }
  linkPackages(to);
}

/** pnpm looks up in node_modules which version a `workspace:` range stands for. */
function linkPackages(root: string): void {
  const packages = packagesOf(root);
  for (const { folder, manifest } of packages) {
    const needed = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const other of packages.filter(({ manifest: { name } }) => name in needed)) {
      const link = join(root, folder, "node_modules", other.manifest.name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, other.folder), link, "dir");
    }
  }
}
