import { describe, expect, it } from "vitest";
import { codeBlocks } from "./docs/markdown.ts";
import { ExampleProject } from "./readme-project.ts";

const printed = [
  /^charged order 1042\nundefined\n$/,
  /^\[ 'ran', 'failed', 'skipped' \]\n$/,
  /^a again in \d+ ms at most\n$/,
  /^true\n$/,
];

describe("the examples in core's README", () => {
  const examples = codeBlocks("packages/core/README.md", "ts");

  it("are as many as are tested", () => {
    expect(examples).toHaveLength(printed.length);
  });

  it.each(printed.map((output, index) => ({ output, example: examples[index] ?? "" })))(
    "run and print $output",
    ({ output, example }) => {
      expect(new ExampleProject(example).run()).toMatch(output);
    },
    60_000,
  );
});
