import type { Claim } from "@bq/idempotency-core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, plainClient, sharedNodes, sharedUrl } from "./support/servers.ts";

const ids = [
  "a",
  "A",
  "a ",
  "é",
  "e\u0301",
  "__proto__",
  "{tag}1",
  "{tag}2",
  "\ud800",
  "\udfff",
  "x\0y",
  "sha256:",
];
const id = fc.constantFrom(...ids);
const handle = fc.integer({ min: 0, max: 1 });
const operation = fc.oneof(
  fc.record({
    do: fc.constantFrom("seen" as const, "remember" as const, "forget" as const, "claim" as const),
    id,
    handle,
  }),
  fc.record({
    do: fc.constantFrom("renew" as const, "commit" as const, "release" as const),
    nth: fc.nat(),
    handle,
  }),
  fc.record({
    do: fc.constantFrom("seenMany" as const, "rememberMany" as const),
    ids: fc.array(id, { maxLength: 8 }),
    handle,
  }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const leaseMs = 600_000;

/** Runs the operations on two handles of one store, and on a plain Map from id to `"marked"` or the token of its claim. */
async function compare(stores: readonly RedisStore[], operations: readonly Operation[]): Promise<void> {
  const model = new Map<string, string>();
  const claims: Claim[] = [];
  const marked = (key: string) => model.get(key) === "marked";
  for (const step of operations) {
    const store = stores[step.handle];
    if (!store) throw new Error("unreachable");
    if ("ids" in step) {
      if (step.do === "seenMany") expect(await store.seenMany(step.ids)).toEqual(step.ids.map(marked));
      else {
        await store.rememberMany(step.ids);
        for (const one of step.ids) model.set(one, "marked");
      }
    } else if ("nth" in step) {
      const claim = claims[step.nth % claims.length];
      if (!claim) continue;
      const ours = model.get(claim.id) === claim.token;
      const answer = step.do === "renew" ? await store.renew(claim, leaseMs) : await store[step.do](claim);
      expect(answer, `${step.do} of ${claim.id}`).toBe(ours);
      if (step.do === "commit") model.set(claim.id, "marked");
      if (step.do === "release" && ours) model.delete(claim.id);
    } else if (step.do === "claim") {
      const result = await store.claim(step.id, leaseMs);
      expect(result.status).toBe(
        marked(step.id) ? "processed" : model.has(step.id) ? "in-flight" : "claimed",
      );
      if (result.status === "claimed") {
        claims.push(result.claim);
        model.set(step.id, result.claim.token);
      }
    } else if (step.do === "seen") expect(await store.seen(step.id)).toBe(marked(step.id));
    else {
      await store[step.do](step.id);
      if (step.do === "remember") model.set(step.id, "marked");
      else model.delete(step.id);
    }
  }
}

it("two handles behave like one plain map, whatever is done in whatever order", {
  timeout: 60_000,
}, async () => {
  const clients = [plainClient(sharedUrl), plainClient(sharedUrl)];
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const prefix = freshPrefix();
      await compare(
        clients.map((client) => new RedisStore(client, { prefix })),
        operations,
      );
    }),
    { numRuns: 60 },
  );
});

it("so do two handles on a cluster", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 30, maxLength: 60 }), async (operations) => {
      const prefix = freshPrefix();
      const stores = await Promise.all([0, 1].map(() => RedisStore.connect(sharedNodes, { prefix })));
      try {
        await compare(stores, operations);
      } finally {
        for (const store of stores) await store.close();
      }
    }),
    { numRuns: 15 },
  );
});
