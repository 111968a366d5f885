import { InMemoryStore } from "@bq/idempotency-core";
import { describe, it } from "vitest";
import { describeStoreContract } from "../src/index.ts";

describeStoreContract(
  {
    name: "InMemoryStore in real time",
    capabilities: ["ttl", "batch", "claims"],
    provision: ({ ttlMs }) => new InMemoryStore({ ttlMs }),
    open: ({ backend }) => backend,
  },
  { describe, it },
);

describeStoreContract(
  {
    name: "InMemoryStore with a clock of its own",
    capabilities: ["ttl", "batch", "claims"],
    provision({ ttlMs }) {
      const clock = { nowMs: 0 };
      return { clock, store: new InMemoryStore({ ttlMs, now: () => clock.nowMs }) };
    },
    open: ({ backend }) => backend.store,
    advance: (ms, { backend }) => {
      backend.clock.nowMs += ms;
    },
  },
  { describe, it },
);
