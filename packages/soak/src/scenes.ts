import { InMemoryStore } from "@bq/idempotency-core";
import type { RedisStore } from "@bq/idempotency-redis";
import { batches, claiming, seenSet } from "./consumers.ts";
import type { Deliver, Place, Scene } from "./scene.ts";

const anHour = 2_000_000;

/** So many marks that the store is full long before the warm-up is over. */
const marksFor = (deliveries: number) => Math.max(1_000, Math.floor(deliveries / 100));

/** How long a mark lives on Redis: what the server holds is what came in the meantime. */
const ttlMs = 10_000;

const concurrency = 64;

function inMemory(
  name: string,
  deliver: (store: InMemoryStore, options: Pick<Place, "observe">) => Deliver,
  deliveries: number = anHour,
): Scene {
  return {
    name: `memory/${name}`,
    backend: "memory",
    deliveries,
    open: async (place) => ({
      deliver: deliver(new InMemoryStore({ maxEntries: marksFor(place.deliveries) }), {
        observe: place.observe,
      }),
      close: async () => {},
    }),
  };
}

function onRedis(
  name: string,
  deliver: (store: RedisStore, options: Pick<Place, "observe">) => Deliver,
): Scene {
  return {
    name: `redis/${name}`,
    backend: "redis",
    deliveries: anHour,
    async open({ url, observe }) {
      // A scene in memory does without the driver.
      const redis = await import("@bq/idempotency-redis");
      const store = await redis.RedisStore.connect(url, { ttlMs });
      return { deliver: deliver(store, { observe }), close: () => store.close() };
    },
  };
}

/** Who is watched, in this order. */
export const scenes: readonly Scene[] = [
  inMemory("wrap", (store, options) => seenSet(store, options, concurrency)),
  inMemory("wrapClaiming", (store, options) => claiming(store, options, concurrency)),
  inMemory("wrapBatch", (store, options) => batches(store, options)),
  inMemory("wrap, ten million", (store, options) => seenSet(store, options, 1), 10_000_000),
  onRedis("wrap", (store, options) => seenSet(store, options, concurrency)),
  onRedis("wrapClaiming", (store, options) => claiming(store, options, concurrency)),
  onRedis("wrapBatch", (store, options) => batches(store, options)),
];
