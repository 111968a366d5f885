import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { copyWorkspace } from "../src/release/copy-workspace.ts";
import { repositoryUrl } from "../src/release/repository-url.ts";
import { showPlan } from "../src/release/show.ts";
import { stamp, withAbsoluteLinks } from "../src/release/stamp.ts";
import { publishedOf, readManifest, workspace } from "../src/workspace.ts";

const plan = inject("release");
const changesets = readdirSync(join(workspace, ".changeset"))
  .filter((file) => file.endsWith(".md") && file !== "README.md")
  .map((file) => readFileSync(join(workspace, ".changeset", file), "utf8"));

describe("the next release", () => {
  it.each(plan)(
    "gives $name a version of its own when a changeset names it, and says what changed",
    (planned) => {
      const { name, folder, from, to, changes } = planned;
      const mine = changesets.filter((changeset) => changeset.split("---")[1]?.includes(`"${name}"`));
      expect(from).toBe(readManifest(join(workspace, folder)).version);
      if (changesets.length === 0) expect(to).toBe(from);
      if (mine.length > 0) expect(to).not.toBe(from);
      for (const changeset of mine) {
        const [firstLine = ""] = changeset.split("---\n").at(-1)?.trim().split("\n") ?? [];
        expect(changes).toContain(firstLine);
      }
      expect(existsSync(planned.tarball)).toBe(true);
    },
  );

  it("leaves the work tree as it is", () => {
    for (const { folder, from } of plan) {
      expect(readManifest(join(workspace, folder)).version).toBe(from);
      if (from === "0.0.0") expect(existsSync(join(workspace, folder, "CHANGELOG.md"))).toBe(false);
    }
  });

  it("is shown with versions, changes and the files of each tarball", () => {
    const shown = showPlan(plan);
    for (const { name, from, to, changes, tarball } of plan) {
      expect(shown).toContain(from === to ? `${name} ${from}, unchanged` : `${name} ${from} -> ${to}`);
      expect(shown).toContain(tarball);
      for (const line of changes.split("\n")) expect(shown).toContain(line);
    }
    expect(shown).toMatch(/^ +\d+ {2}dist\/index\.d\.cts$/m);
  });
});

describe("on npm's page", () => {
  const url = "https://example.com/queue/idempotency";
  let copy: string;
  beforeAll(async () => {
    copy = mkdtempSync(join(inject("folder"), "stamped-"));
    await copyWorkspace(copy);
    stamp(copy, url);
  });

  it.each(publishedOf())(
    "each link of $manifest.name's README leads to a file that is there",
    ({ folder }) => {
      const readme = readFileSync(join(copy, folder, "README.md"), "utf8");
      const links = [...readme.matchAll(/\]\((?!#)(\S+?)\)/g)].map(([, link = ""]) => link);
      expect(links.filter((link) => !/^https?:/.test(link))).toEqual([]);
      const ours = links.filter((link) => link.startsWith(url)).map((link) => link.slice(url.length));
      for (const path of ours) {
        const [, file = ""] = /^\/(?:blob|raw)\/HEAD\/([^#]+)/.exec(path) ?? [];
        expect(existsSync(join(workspace, file)), path).toBe(true);
      }
      expect(readManifest(join(copy, folder))).toMatchObject({
        repository: { url: `git+${url}.git`, directory: folder },
      });
    },
  );

  it("links, pictures and code are told apart", () => {
    const page =
      "[a](../b/README.md#c) ![d](e.svg) [f](https://g) [h](#i) `[j](k)`\n```\n[l](m)\n```\n[`n`](o.md)";
    expect(withAbsoluteLinks(page, "packages/core", url)).toBe(
      `[a](${url}/blob/HEAD/packages/b/README.md#c) ![d](${url}/raw/HEAD/packages/core/e.svg) ` +
        `[f](https://g) [h](#i) \`[j](k)\`\n\`\`\`\n[l](m)\n\`\`\`\n[\`n\`](${url}/blob/HEAD/packages/core/o.md)`,
    );
  });

  it("the repository is the one that publishes, and nothing is published without one", () => {
    expect(
      repositoryUrl(undefined, { GITHUB_SERVER_URL: "https://example.com", GITHUB_REPOSITORY: "a/b" }),
    ).toBe("https://example.com/a/b");
    expect(repositoryUrl("https://example.com/a/b.git", {})).toBe("https://example.com/a/b");
    expect(() => repositoryUrl(undefined, {})).toThrow("--repository");
    expect(() => repositoryUrl("git@example.com:a/b", {})).toThrow("https");
  });
});
