import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";
import { filesOfReader, leftToReader } from "./left-to-reader.ts";
import { codeBlocks, markdownFiles } from "./markdown.ts";

/** What these show is part of a file, and is compared with it by other tests; or it is a listing of the API. */
const shownElsewhere = /^packages\/examples\/src\/|^packages\/bench\/|\.api\.md$/;

const pages = markdownFiles().filter(
  (page) => codeBlocks(page, "ts").length > 0 && !shownElsewhere.test(page),
);

describe("the TypeScript on", () => {
  const project = new DocsProject(pages);
  let complaints: string[] = [];

  beforeAll(() => {
    complaints = project.typecheck();
  }, 120_000);

  afterAll(() => project[Symbol.dispose]());

  it.each(pages)("%s is typed as it stands", (page) => {
    expect(complaints.filter((complaint) => complaint.startsWith(`${page}/`))).toEqual([]);
  });

  it("all pages is all that was compiled", () => {
    expect(complaints.filter((complaint) => !pages.some((page) => complaint.startsWith(`${page}/`)))).toEqual(
      [],
    );
    expect(pages.length).toBeGreaterThan(10);
    expect(project.files.length).toBeGreaterThan(40);
  });

  it("pages that leave something to the reader is on pages that exist", () => {
    expect(pages).toEqual(
      expect.arrayContaining([...Object.keys(leftToReader), ...Object.keys(filesOfReader)]),
    );
  });
});
