import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openStore } from "./support/temporary.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

it("the README shows the table as ddl() makes it", async () => {
  const store = await openStore();
  expect(readme).toContain(`\`\`\`sql\n${store.ddl()}\n\`\`\``);
});

it("the README lists every finding of check()", () => {
  const source = readFileSync(new URL("../src/check.ts", import.meta.url), "utf8");
  const codes = [...source.matchAll(/code: "([a-z-]+)"/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(3);
  for (const code of codes) expect(readme).toContain(`| \`${code}\``);
});
