import { setTimeout as pause } from "node:timers/promises";
import { type BatchStore, InMemoryStore } from "@bq/idempotency-core";
import { expect, it } from "vitest";
import { allCases, type Subject } from "../src/index.ts";

it("what a slow machine let expire is judged in another attempt, also on a clock that can be moved", async () => {
  let movedMs = 0;
  let questions = 0;
  const open = (backend: InMemoryStore): BatchStore => ({
    seen: (id) => backend.seen(id),
    remember: (id) => backend.remember(id),
    forget: (id) => backend.forget(id),
    rememberMany: (ids) => backend.rememberMany(ids),
    async seenMany(ids) {
      // Less than the TTL of 900 ms, but more than what is left of it then.
      if (questions++ === 0) await pause(600);
      return backend.seenMany(ids);
    },
  });
  const subject: Subject<InMemoryStore> = {
    name: "a slow store",
    capabilities: ["ttl", "batch"],
    // As the clock of a server: it runs, and can be moved besides.
    provision: ({ ttlMs }) => new InMemoryStore({ ttlMs, now: () => performance.now() + movedMs }),
    open: ({ backend }) => open(backend),
    advance: (ms) => {
      movedMs += ms;
    },
  };
  await allCases.find(({ id }) => id === "ttl/batch-restarts")?.run(subject as Subject);
  expect(questions).toBe(2);
});
