// A BullMQ worker. A job whose id is in flight elsewhere is delayed, and comes back with all its attempts left.
import { RedisStore } from "@bq/idempotency-redis";
import { Worker } from "bullmq";
import { parkingProcessor } from "../parking/bullmq.ts";
import { charge, type OrderMessage } from "./orders.ts";
import { settings } from "./settings.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

const { redisUrl, queue, leaseMs, ttlMs } = settings;

// Each consumer that processes messages on its own has a prefix of its own.
const store = await RedisStore.connect(redisUrl, { prefix: `idempotency:${queue}:`, ttlMs });

const processor = parkingProcessor<OrderMessage, string>(
  store,
  (job, { signal }) => charge(job.data.data, signal),
  { leaseMs, observe: ({ type }) => console.log(type) },
);
const worker = new Worker(queue, processor, { connection: { url: redisUrl }, concurrency: 16 });
// Without a listener, a lost connection would end the process; the worker connects again by itself.
worker.on("error", (error) => console.error(error.message));

stopOnSignal(async () => {
  // Takes no more jobs, and waits for those under way; only then are no marks left to be written.
  await worker.close();
  await store.close();
});
await worker.waitUntilReady();
console.log("ready");
