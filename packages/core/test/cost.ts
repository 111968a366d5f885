import { InMemoryStore, wrap } from "../src/index.ts";

// Prints, as JSON, what a delivery costs beyond its handler and what a mark takes in memory.
// Run: node --expose-gc --conditions=@bq/source test/cost.ts

const collect = globalThis.gc;
if (!collect) throw new Error("Run this with --expose-gc.");

interface Job {
  meta: { id: string };
}

const deliveries = 4_000;
const messages: Job[] = Array.from({ length: deliveries }, () => ({ meta: { id: crypto.randomUUID() } }));
const handler = async (job: Job) => job.meta.id.length;

async function microsecondsPerDelivery(deliver: (job: Job) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (const message of messages) await deliver(message);
  return ((performance.now() - startedAt) * 1_000) / deliveries;
}

/**
 * First deliveries against the bare handler, side by side in many short rounds. Each at its best: whatever else the machine does
 * only makes a round slower.
 */
async function addedMicroseconds(): Promise<number> {
  let bare = Number.POSITIVE_INFINITY;
  let wrapped = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 300; round++) {
    bare = Math.min(bare, await microsecondsPerDelivery(handler));
    wrapped = Math.min(wrapped, await microsecondsPerDelivery(wrap(new InMemoryStore(), handler)));
  }
  return wrapped - bare;
}

function bytesPerId(store: InMemoryStore): number {
  const count = 1_000_000;
  collect?.();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < count; n++) store.remember(crypto.randomUUID());
  collect?.();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  if (store.size !== count) throw new Error(`${store.size} marks are kept instead of ${count}.`);
  return bytes;
}

console.log(
  JSON.stringify({
    addedMicroseconds: await addedMicroseconds(),
    bytesPerId: bytesPerId(new InMemoryStore()),
    bytesPerIdWithTtl: bytesPerId(new InMemoryStore({ ttlMs: 86_400_000 })),
  }),
);
