import { describe, expect, it } from "vitest";
import { codeBlocks } from "./docs/markdown.ts";
import { ExampleProject } from "./readme-project.ts";

describe("the example in the root README", () => {
  const [example = "", ...others] = codeBlocks("README.md", "ts");

  it("is one, and has at most fifteen lines of code", () => {
    expect(others).toEqual([]);
    const code = example.split("\n").filter((line) => line.trim() !== "");
    expect(code.length).toBeGreaterThan(5);
    expect(code.length).toBeLessThanOrEqual(15);
  });

  it("runs as it stands, and prints what its comments say: the effect once, and never again after a restart", () => {
    const project = new ExampleProject(example);
    expect(project.run()).toBe("charged order 1042\n");
    expect(project.run()).toBe("");
  }, 60_000);
});
