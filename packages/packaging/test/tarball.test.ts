import { readFileSync } from "node:fs";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, inject, it } from "vitest";
import { readTarball } from "../src/tarball.ts";

/** Beside dist and what npm adds by itself, only what a package is for. */
const furtherFiles: Readonly<Record<string, readonly string[]>> = {
  "@bq/idempotency-conformance": ["bin/bq-conformance.mjs", "fixtures/invoice-sent.json", "manifest.json"],
};

describe.each(inject("release"))("the tarball of $name", ({ name, tarball, from, to }) => {
  const files = readTarball(tarball);
  const manifest = JSON.parse(String(files.get("package.json")));

  it("holds what was built, its description and its licence, and nothing else", () => {
    const built = /^dist\/[\w-]+\.(mjs|cjs|mjs\.map|cjs\.map|d\.mts|d\.cts)$/;
    const further = [...files.keys()].filter((path) => !built.test(path)).sort();
    const changelog = from === to ? [] : ["CHANGELOG.md"];
    expect(further).toEqual(
      ["LICENSE", "README.md", "package.json", ...changelog, ...(furtherFiles[name] ?? [])].sort(),
    );
    expect(String(files.get("LICENSE"))).toContain("MIT License");
    expect(String(files.get("README.md"))).toContain(`# ${name}\n`);
  });

  it("names no folder of the workspace, and no range that only the workspace understands", () => {
    const { scripts, ...rest } = manifest;
    expect(JSON.stringify(rest)).not.toMatch(/@bq\/source|"workspace:|\.\/src/);
    expect(rest).toMatchObject({
      sideEffects: false,
      type: "module",
      license: "MIT",
      engines: { node: ">=20" },
    });
    expect(rest.keywords.length).toBeGreaterThan(4);
    expect(Object.keys(scripts)).not.toEqual(expect.arrayContaining([expect.stringMatching(/install/)]));
  });

  it("is clean in the eyes of publint", async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer },
      level: "suggestion",
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it("gives every kind of resolution its own types, in the eyes of are-the-types-wrong", async () => {
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    if (!analysis.types) throw new Error(`${name} has no types.`);
    // A manifest is read, never resolved to types.
    const problems = analysis.problems.filter((problem) => !JSON.stringify(problem).includes(".json"));
    expect(problems).toEqual([]);
    expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(Object.keys(manifest.exports)));
  });
});
