import { Redis } from "ioredis";
import type { SingleContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

/** ioredis by hand, with its default settings. */
export const plainRedis: SingleContestant = {
  name: "redis/plain",
  side: "plain",
  backend: "redis",
  mode: "seen-set",
  async open({ address }, effect) {
    const client = new Redis(address);
    return {
      async deliver(id) {
        const key = `seen:${id}`;
        if ((await client.exists(key)) === 1) return;
        effect();
        await client.set(key, "1", "PX", ttlMs);
      },
      async close() {
        await client.quit();
      },
    };
  },
};
