// A RabbitMQ consumer. A delivery whose id is in flight elsewhere waits in a queue of its own, and is not counted.
import { PostgresStore } from "@bq/idempotency-postgres";
import { consumeParking } from "../parking/rabbitmq.ts";
import { charge, type OrderMessage } from "./orders.ts";
import { openQueue } from "./rabbitmq.ts";
import { settings } from "./settings.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

const { postgresUrl, rabbitMqUrl, queue, leaseMs, ttlMs } = settings;

const store = await PostgresStore.connect(postgresUrl, { ttlMs });
// Any number of workers may do this at once.
await store.migrate();
store.purgeEvery(3_600_000);

const { channel, close } = await openQueue(rabbitMqUrl, queue, 16);
const stopConsuming = await consumeParking(
  channel,
  queue,
  store,
  (delivery, { signal }) => {
    const { data } = JSON.parse(delivery.content.toString()) as OrderMessage;
    return charge(data, signal);
  },
  { leaseMs, observe: ({ type }) => console.log(type) },
);

stopOnSignal(async () => {
  // In this order: no new deliveries, those under way to their end, their acknowledgements sent, the store closed.
  await stopConsuming();
  await close();
  await store.close();
});
console.log("ready");
