import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifest, workspace } from "../src/workspace.ts";

const folder = join(workspace, ".github/workflows");
const { scripts } = readManifest(workspace) as unknown as { scripts: Record<string, string> };

describe.each(readdirSync(folder))("the workflow %s", (file) => {
  const text = readFileSync(join(folder, file), "utf8");

  it("takes every action by its major version", () => {
    const actions = [...text.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(1);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
  });

  it("runs commands that the workspace has", () => {
    const started = /(?:run|version|publish): (?:npm run|npm|pnpm) ([a-z]+)/g;
    const commands = [...text.matchAll(started)].map(([, name = ""]) => name);
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect(["install", ...Object.keys(scripts)]).toContain(command);
  });
});

it("the workflow of a release signs where the packages come from, and may do no more than that needs", () => {
  const text = readFileSync(join(folder, "release.yml"), "utf8");
  expect(text).toContain("\npermissions: {}\n");
  expect(text).toContain("id-token: write");
  expect(text).toContain('NPM_CONFIG_PROVENANCE: "true"');
});
