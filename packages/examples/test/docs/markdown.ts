import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the workspace. */
export const root: string = fileURLToPath(new URL("../../../..", import.meta.url));

/** Every Markdown file of the repository, as paths from its root, also one that was not committed yet, but none that was deleted. */
export function markdownFiles(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
  return listed.filter((page) => existsSync(join(root, page)));
}

export function read(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The blocks of code of a page in one language, without the indentation of a list that they stand in. */
export function codeBlocks(page: string, language: string): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, "gms");
  return [...read(page).matchAll(fence)].map(([, indent = "", code = ""]) =>
    code.replace(new RegExp(`^${indent}`, "gm"), ""),
  );
}
