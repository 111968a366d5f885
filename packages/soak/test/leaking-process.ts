// A consumer that keeps a little of every delivery: leaking-process.ts DELIVERIES.
import { InMemoryStore } from "@bq/idempotency-core";
import { seenSet } from "../src/consumers.ts";
import { watch } from "../src/watch.ts";

const kept: (() => unknown)[] = [];

const watched = await watch(
  {
    name: "a leak",
    backend: "memory",
    deliveries: Number(process.argv[2]),
    async open({ observe }) {
      const leaking: typeof observe = (event) => {
        kept.push(() => event.type);
        observe(event);
      };
      return {
        deliver: seenSet(new InMemoryStore({ maxEntries: 1_000 }), { observe: leaking }, 64),
        close: async () => {},
      };
    },
  },
  Number(process.argv[2]),
  "",
);
process.stdout.write(JSON.stringify(watched));
