import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../src/parking/", import.meta.url);
const readme = readFileSync(new URL("README.md", folder), "utf8");
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));

/** Each block of code, with the file that the text before it names last. */
const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(({ 1: code = "", index }) => {
  const named = [...readme.slice(0, index).matchAll(/\]\(([\w-]+\.ts)\)/g)];
  return { file: named.at(-1)?.[1] ?? "(none)", code };
});

test("the page on parking shows code of every broker", () => {
  const shown = blocks.map(({ file }) => file);
  expect(shown).toEqual([
    "retry-after.ts",
    "bullmq.ts",
    "rabbitmq.ts",
    "rabbitmq-park.ts",
    "sqs.ts",
    "sqs-lambda.ts",
  ]);
});

test.each(blocks)(
  "the code that the page shows of $file stands in that file, but for its indentation",
  ({ file, code }) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    const depths = ["", "  ", "    "].map((indent) => code.replace(/^(?=.)/gm, indent));
    expect(depths.some((indented) => text.includes(indented))).toBe(true);
  },
);

test.each(files)("the page names %s", (file) => {
  expect(readme).toContain(`](${file})`);
});
