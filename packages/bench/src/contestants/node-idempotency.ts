import { Idempotency } from "@node-idempotency/core";
import { RedisStorageAdapter } from "@node-idempotency/storage-adapter-redis";
import type { SingleContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

/** node-idempotency, made for HTTP requests: a delivery is a request whose idempotency key is the id. */
export const nodeIdempotency: SingleContestant = {
  name: "redis/node-idempotency",
  side: "peer",
  backend: "redis",
  mode: "claims",
  async open({ address }, effect) {
    const storage = new RedisStorageAdapter({ url: address });
    await storage.connect();
    const idempotency = new Idempotency(storage, { cacheTTLMS: ttlMs });
    return {
      async deliver(id) {
        const request = { headers: { "idempotency-key": id }, path: "/", method: "POST" };
        if ((await idempotency.onRequest(request)) !== undefined) return;
        effect();
        await idempotency.onResponse(request, { body: {} });
      },
      close: () => storage.disconnect(),
    };
  },
};
