// Works with a wall clock that is wrong, and reports what it saw.
import { setTimeout as pause } from "node:timers/promises";
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = "", name = ""] = process.argv;
const store = await PostgresStore.connect(url, { table, ttlMs: 60_000, maxConnections: 1 });
const brief = await PostgresStore.connect(url, { table, ttlMs: 1, maxConnections: 1 });
await store.remember(`mark-${name}`);
await brief.remember(`brief-${name}`);
const report = {
  clock: Date.now(),
  seen: await store.seen("ours"),
  own: await store.seen(`mark-${name}`),
  held: (await store.claim("held", 60_000)).status,
  claimed: (await store.claim(`claim-${name}`, 60_000)).status,
};
while (await brief.seen(`brief-${name}`)) await pause(1);
process.send?.({ ...report, purged: 0 });
