import { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import type { SingleContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

/** A lock of redis-semaphore around a check and a mark: the protocol by which message-queue-toolkit deduplicates what it consumes. */
export const redisSemaphore: SingleContestant = {
  name: "redis/redis-semaphore",
  side: "peer",
  backend: "redis",
  mode: "claims",
  async open({ address }, effect) {
    const client = new Redis(address);
    const isMarked = async (id: string) => (await client.exists(`seen:${id}`)) === 1;
    return {
      async deliver(id) {
        if (await isMarked(id)) return;
        const mutex = new Mutex(client, id, { lockTimeout: 30_000, refreshInterval: 10_000 });
        await mutex.acquire();
        try {
          // Somebody else may have processed it while this one waited for the lock.
          if (await isMarked(id)) return;
          effect();
          await client.set(`seen:${id}`, "1", "PX", ttlMs, "NX");
        } finally {
          await mutex.release();
        }
      },
      async close() {
        await client.quit();
      },
    };
  },
};
