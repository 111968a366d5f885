import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** The folders with a page of their own, and the files whose code it shows, in its order. */
const pages = [
  {
    name: "parking",
    shows: ["retry-after.ts", "bullmq.ts", "rabbitmq.ts", "rabbitmq-park.ts", "sqs.ts", "sqs-lambda.ts"],
  },
  { name: "observe", shows: ["pino.ts", "prom-client.ts", "opentelemetry.ts"] },
  { name: "consumers", shows: [] },
] as const;

describe.each(pages)("the page of $name", ({ name, shows }) => {
  const folder = new URL(`../src/${name}/`, import.meta.url);
  const page = readFileSync(new URL("README.md", folder), "utf8");
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  /** Each block of code, with the file that the text before it names last. */
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(({ 1: code = "", index }) => {
    const named = [...page.slice(0, index).matchAll(/\]\(([\w-]+\.ts)\)/g)];
    return { file: named.at(-1)?.[1] ?? "(none)", code };
  });

  test("shows code of the files that it is about, as it stands there but for its indentation", () => {
    expect(blocks.map(({ file }) => file)).toEqual(shows);
    for (const { file, code } of blocks) {
      const text = readFileSync(new URL(file, folder), "utf8");
      // Also as the example in a comment.
      const margins = ["", "  ", "    ", " * "];
      const found = margins.some((margin) => text.includes(code.replace(/^(?=.)/gm, margin)));
      expect(found, `the block of ${file}`).toBe(true);
    }
  });

  test("names every file of its folder", () => {
    for (const file of files) expect(page).toContain(`](${file})`);
  });
});
