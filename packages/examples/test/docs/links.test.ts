import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { markdownFiles, read, root } from "./markdown.ts";

/** The text of a page without its code, in which nothing is a link. */
function proseOf(page: string): string {
  return read(page)
    .replace(/^ *```.*?^ *```$/gms, "")
    .replace(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));
}

/** Where the links and pictures of a page lead, but for those to other sites. */
function relativeLinks(page: string): string[] {
  const prose = proseOf(page);
  const links = [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)|^ {0,3}\[[^\]]+\]: (\S+)|(?:src|href)="([^"]+)"/gm)];
  return links.map(([, ...targets]) => targets.find(Boolean) ?? "").filter((target) => !/^\w+:/.test(target));
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...proseOf(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)];
  const anchors = headings.map(([, heading = ""]) => {
    const text = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = text.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "").replaceAll(" ", "-");
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
  return new Set(anchors);
}

/** What is wrong with a link; `undefined` when it leads somewhere. */
function fault(page: string, link: string): string | undefined {
  const [target = "", anchor] = link.split("#");
  const path = target === "" ? page : normalize(join(dirname(page), decodeURIComponent(target)));
  if (path.startsWith("..")) return `${link} leads out of the repository`;
  if (/(^|\/)(node_modules|dist|reports)(\/|$)/.test(path)) return `${link} leads to what is not kept`;
  if (!existsSync(join(root, path))) return `${link} leads to nothing`;
  if (anchor !== undefined && path.endsWith(".md") && !anchorsOf(path).has(anchor))
    return `${link} has no such heading`;
  return undefined;
}

describe("every link leads to a file or heading, on", () => {
  const pages = markdownFiles();

  it.each(pages)("%s", (page) => {
    expect(relativeLinks(page).flatMap((link) => fault(page, link) ?? [])).toEqual([]);
  });

  it("enough pages with enough links to be all of them", () => {
    expect(pages.length).toBeGreaterThan(25);
    expect(pages.flatMap(relativeLinks).length).toBeGreaterThan(100);
  });
});

describe("a link is found wanting when", () => {
  it.each([
    ["the file is missing", "docs/nowhere.md", "leads to nothing"],
    ["the heading is missing", "docs/guarantee.md#no-such-heading", "has no such heading"],
    ["it points out of the repository", "../elsewhere.md", "leads out of the repository"],
    ["the file is built", "packages/core/dist/index.mjs", "leads to what is not kept"],
  ])("%s", (_, link, reason) => {
    expect(fault("README.md", link)).toBe(`${link} ${reason}`);
  });

  it("a heading with code and punctuation in it is one all the same", () => {
    expect(fault("README.md", "docs/operating.md#replay-with-forget")).toBeUndefined();
    expect(fault("README.md", "#the-guarantee-and-its-gap")).toBeUndefined();
  });
});
