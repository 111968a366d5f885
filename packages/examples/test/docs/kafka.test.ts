import { afterAll, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const page = "docs/recipes.md";
const project = new DocsProject([page]);
afterAll(() => project[Symbol.dispose]());

/** Hands out 250 messages as kafkajs does: from the last resolved offset on, again after a failure, until all are resolved. */
const scene = `
import { InMemoryStore } from "@bq/idempotency-core";
import { onceEachBatch } from "./kafka.mts";

const messages = Array.from({ length: 250 }, (_, offset) => ({
  offset: String(offset),
  value: Buffer.from(JSON.stringify({ meta: { id: "order " + (offset % 200) } })),
}));
const runs = new Map();
const eachBatch = onceEachBatch(new InMemoryStore(), async ({ offset, value }) => {
  const { meta } = JSON.parse(String(value));
  runs.set(meta.id, (runs.get(meta.id) ?? 0) + 1);
  if (offset === "120" && runs.get(meta.id) === 1) throw new Error("the payment service is away");
});

const stopping = { isRunning: () => false, isStale: () => false };
await eachBatch({ batch: { messages }, resolveOffset: () => console.log("resolved"), ...stopping });
console.log(runs.size, "ids ran while the consumer stops");

let resolved = -1;
let heartbeats = 0;
for (let attempt = 1; resolved < 249; attempt++) {
  const payload = {
    batch: { messages: messages.slice(resolved + 1) },
    resolveOffset: (offset) => { resolved = Number(offset); },
    heartbeat: async () => { heartbeats += 1; },
    isRunning: () => true,
    isStale: () => false,
  };
  await eachBatch(payload).catch((error) => console.log(error.message, "after offset", resolved, "in attempt", attempt));
}
const twice = [...runs].filter(([, times]) => times > 1).map(([id]) => id);
console.log(runs.size, "ids ran,", twice.join(), "twice,", heartbeats, "heartbeats");
`;

it("the Kafka recipe resolves what is done, stops at a slice with a failure, and runs only that message again", () => {
  expect(project.tryOut(page, scene)).toBe(
    "0 ids ran while the consumer stops\n" +
      "the payment service is away after offset 99 in attempt 1\n" +
      "200 ids ran, order 120 twice, 3 heartbeats\n",
  );
}, 120_000);
