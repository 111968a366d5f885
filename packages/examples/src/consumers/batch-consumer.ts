// A consumer that takes deliveries in batches. Each has a claim of its own, yet the claims of a batch take few statements, and so
// do its marks: calls that arrive together share them. What is parked is handed back with a delay, alone.
import { wrapClaiming } from "@bq/idempotency-core";
import { PostgresStore } from "@bq/idempotency-postgres";
import type { ConsumeMessage } from "amqplib";
import { idOf, settle } from "../parking/rabbitmq.ts";
import { BatchCollector } from "./batch-collector.ts";
import { charge, type OrderMessage } from "./orders.ts";
import { openQueue } from "./rabbitmq.ts";
import { settings } from "./settings.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

const { postgresUrl, rabbitMqUrl, queue, leaseMs, ttlMs } = settings;
const batchSize = 50;

const store = await PostgresStore.connect(postgresUrl, { ttlMs });
await store.migrate();
store.purgeEvery(3_600_000);

const run = wrapClaiming(
  store,
  (delivery: ConsumeMessage, { signal }) => {
    const { data } = JSON.parse(delivery.content.toString()) as OrderMessage;
    return charge(data, signal);
  },
  { key: idOf, leaseMs, observe: ({ type }) => console.log(type) },
);

// Twice as many, so that one batch arrives while another is processed.
const { channel, close } = await openQueue(rabbitMqUrl, queue, 2 * batchSize);
const batches = new BatchCollector<ConsumeMessage>({ size: batchSize, waitMs: 50 }, async (batch) => {
  console.log(`batch of ${batch.length}`);
  // A delivery that could be neither parked nor acknowledged ends the channel, and with it the process.
  await Promise.all(batch.map((delivery) => settle(channel, queue, delivery, run))).catch(() =>
    channel.close(),
  );
});
const { consumerTag } = await channel.consume(queue, (delivery) => {
  if (delivery) batches.add(delivery);
  else void channel.close();
});

stopOnSignal(async () => {
  await channel.cancel(consumerTag);
  await batches.finished();
  await close();
  await store.close();
});
console.log("ready");
