import fc from "fast-check";
import { expect, it } from "vitest";
import { slotOf } from "../src/slots.ts";
import { nodeUrl, plainClient } from "./support/servers.ts";

it("a key's slot is the one that the cluster computes, with and without a hash tag", async () => {
  const client = plainClient(nodeUrl());
  const key = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("{", "}", "a", "é") }),
    fc.uuid().map((id) => `bq:idempotency:${id}`),
  );
  await fc.assert(
    fc.asyncProperty(key, async (name) => {
      expect(slotOf(name)).toBe(Number(await client.call("CLUSTER", "KEYSLOT", name)));
    }),
    { numRuns: 300, examples: [["{}a"], ["{a}{b}"], ["{{a}}"], ["}{a"], ["{a"], ["a}"]] },
  );
});
