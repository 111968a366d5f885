import { InMemoryStore, wrap } from "../src/index.ts";

// Prints, as JSON, what a delivery costs beyond its handler and what a mark takes in memory.
// Run: node --expose-gc --conditions=@bq/source test/cost.ts

const collect = globalThis.gc;
if (!collect) throw new Error("Run this with --expose-gc.");

interface Job {
  meta: { id: string };
}

const deliveries = 20_000;
const messages: Job[] = Array.from({ length: deliveries }, () => ({ meta: { id: crypto.randomUUID() } }));
const handler = async (job: Job) => job.meta.id.length;

async function microsecondsPerDelivery(deliver: (job: Job) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (const message of messages) await deliver(message);
  return ((performance.now() - startedAt) * 1_000) / deliveries;
}

/** First deliveries against the bare handler, side by side; the best of many rounds is the one that nothing else disturbed. */
async function addedMicroseconds(): Promise<number> {
  const added: number[] = [];
  for (let round = 0; round < 60; round++) {
    const bare = await microsecondsPerDelivery(handler);
    const wrapped = await microsecondsPerDelivery(wrap(new InMemoryStore(), handler));
    added.push(wrapped - bare);
  }
  return Math.min(...added);
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
