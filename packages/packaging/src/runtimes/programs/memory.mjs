import { InMemoryStore } from "@bq/idempotency-core";

export const subject = {
  name: "InMemoryStore",
  capabilities: ["ttl", "batch", "claims"],
  provision({ ttlMs }) {
    const clock = { nowMs: 0 };
    return { clock, store: new InMemoryStore({ ttlMs, now: () => clock.nowMs }) };
  },
  open: ({ backend }) => backend.store,
  advance(ms, { backend }) {
    backend.clock.nowMs += ms;
  },
};
