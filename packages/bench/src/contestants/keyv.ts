import { createKeyv } from "@keyv/redis";
import type { SingleContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

/** A seen-set on keyv: get, then set. */
export const keyv: SingleContestant = {
  name: "redis/keyv",
  side: "peer",
  backend: "redis",
  mode: "seen-set",
  async open({ address }, effect) {
    const cache = createKeyv(address, { throwOnErrors: true });
    return {
      async deliver(id) {
        if ((await cache.get(id)) !== undefined) return;
        effect();
        await cache.set(id, true, ttlMs);
      },
      close: () => cache.disconnect(),
    };
  },
};
