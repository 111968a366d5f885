import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const page = "docs/own-store.md";
const command = fileURLToPath(new URL("../../../../conformance/src/cli.ts", import.meta.url));

describe("the store of one's own", () => {
  const project = new DocsProject([page]);
  afterAll(() => project[Symbol.dispose]());

  const prove = () => project.run(page, [command, "./subject.mts"]);

  it("keeps every rule of the contract", () => {
    expect(prove()).toMatch(/\n\d{2,} ok, 0 failed/);
  }, 120_000);

  it("breaks one as soon as its commit writes only for the holder of the claim, as the page says", () => {
    const file = join(project.pageFolder(page), "conditional-store.mts");
    const store = readFileSync(file, "utf8");
    const commit = "write: this.#mark(now),\n    }));";
    expect(store).toContain(commit);
    writeFileSync(
      file,
      store.replace(commit, "...(row?.token === claim.token && { write: this.#mark(now) }),\n    }));"),
    );
    expect(prove()).toMatch(/FAILED.*commit/);
  }, 120_000);
});
