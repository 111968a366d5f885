import { readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { publishedOf } from "../workspace.ts";

/**
 * Writes into the published packages below `root` where their sources are, for npm's page of each: in package.json, and in the
 * links of the README, which lead nowhere there while they are relative. For a checkout that is thrown away after the release.
 */
export function stamp(root: string, repositoryUrl: string): void {
  for (const { folder } of publishedOf(root)) {
    edit(join(root, folder, "package.json"), (text) => {
      const manifest = JSON.parse(text);
      const where = {
        repository: { type: "git", url: `git+${repositoryUrl}.git`, directory: folder },
        homepage: `${repositoryUrl}/tree/HEAD/${folder}#readme`,
        bugs: `${repositoryUrl}/issues`,
      };
      return `${JSON.stringify({ ...manifest, ...where }, null, 2)}\n`;
    });
    edit(join(root, folder, "README.md"), (text) => withAbsoluteLinks(text, folder, repositoryUrl));
  }
}

/** Makes the relative links of a Markdown page in `folder` absolute. What is code stays as it is. */
export function withAbsoluteLinks(markdown: string, folder: string, repositoryUrl: string): string {
  const absolute = (path: string, view: "blob" | "raw") =>
    `${repositoryUrl}/${view}/HEAD/${posix.join(folder, path)}`;
  return markdown
    .split(/(^```[\s\S]*?^```|`[^`\n]+`(?!\]))/m)
    .map((part, index) =>
      // The parts between those that the separator caught are text.
      index % 2 === 1
        ? part
        : part.replace(
            /(!?)(\[(?:[^\][]|\[[^\]]*\])*\])\((?!\w+:|#)([^)\s]+)\)/g,
            (_, image, text, path) => `${image}${text}(${absolute(path, image === "!" ? "raw" : "blob")})`,
          ),
    )
    .join("");
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}
