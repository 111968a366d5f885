import { describe, expect, it } from "vitest";
import { ExampleProject, examplesIn } from "./readme-project.ts";

const printed = [
  /^charged order 1042\nundefined\n$/,
  /^\[ 'ran', 'failed', 'skipped' \]\n$/,
  /^a again in \d+ ms at most\n$/,
  /^true\n$/,
];

describe("the examples in core's README", () => {
  const examples = examplesIn("packages/core/README.md");

  it("are as many as are tested", () => {
    expect(examples).toHaveLength(printed.length);
  });

  it.each(printed.map((output, index) => ({ output, example: examples[index] ?? "" })))(
    "run, print $output and are typed",
    ({ output, example }) => {
      const project = new ExampleProject(example);
      expect(project.run()).toMatch(output);
      expect(project.typecheck()).toBe("");
    },
    60_000,
  );
});
