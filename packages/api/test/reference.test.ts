import { expect, it } from "vitest";
import { readReference } from "../src/make-reference.ts";

it("everything that users can name is documented, and every link in a docstring leads somewhere", {
  timeout: 180_000,
}, async () => {
  const { warnings } = await readReference();
  expect(warnings).toEqual([]);
});
