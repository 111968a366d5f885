import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { entryPoints } from "../src/entry-points.ts";
import { reportFile, reportFolder, surfaces } from "../src/surface.ts";

const points = entryPoints();
let found: ReadonlyMap<string, string>;
beforeAll(() => {
  found = surfaces(points);
}, 180_000);

describe("the public surface under review", () => {
  it.each(points)(
    'of $name is what the package exports; after a change, "pnpm api" writes it anew',
    (point) => {
      expect(found.get(point.name)).toBe(readFileSync(join(reportFolder, reportFile(point)), "utf8"));
    },
  );

  it("holds no entry point that is gone", () => {
    expect(readdirSync(reportFolder).sort()).toEqual(points.map(reportFile).sort());
  });
});
