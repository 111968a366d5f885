import { SourceMap } from "node:module";
import { describe, expect, inject, it } from "vitest";
import { readTarball } from "../src/tarball.ts";

describe.each(inject("release"))("the source maps of $name", ({ tarball }) => {
  const files = readTarball(tarball);
  const programs = [...files.keys()].filter((path) => /^dist\/.*\.[cm]js$/.test(path));

  it.each(programs)("%s points at its map, and the map holds every source", (path) => {
    const map = `${path}.map`;
    expect(String(files.get(path)).trimEnd().split("\n").at(-1)).toBe(
      `//# sourceMappingURL=${map.slice("dist/".length)}`,
    );
    const { sources, sourcesContent } = JSON.parse(String(files.get(map)));
    expect(sources.length).toBeGreaterThan(0);
    expect(sourcesContent).toHaveLength(sources.length);
    for (const content of sourcesContent) expect(content).toEqual(expect.stringMatching(/\S/));
  });

  it.each(programs)("%s leads back from each class and function to the line that declares it", (path) => {
    const map = new SourceMap(JSON.parse(String(files.get(`${path}.map`))));
    const contents = new Map(
      map.payload.sources.map((source, i) => [source, map.payload.sourcesContent[i] ?? ""]),
    );
    const declared = [...String(files.get(path)).matchAll(/^(?:async )?(?:class|function) ([A-Za-z]\w+)/gm)];
    for (const { index, 0: text, 1: name = "" } of declared) {
      const before = String(files.get(path)).slice(0, index).split("\n");
      const found = map.findEntry(before.length - 1, text.length - name.length);
      if (!("originalSource" in found)) throw new Error(`${name} of ${path} is on no map.`);
      const line = contents.get(found.originalSource)?.split("\n")[found.originalLine];
      expect(line).toContain(name);
    }
  });
});
