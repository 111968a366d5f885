// Writes marks that expire at once, and purges them, at full speed beside the workload: node purger.ts '<address of the store>'
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { PostgresStore } from "@bq/idempotency-postgres";
import { SqliteStore } from "@bq/idempotency-sqlite";
import type { StoreAddress } from "./worker/config.ts";

const marksAtOnce = 100;
const address = JSON.parse(process.argv[2] ?? "") as StoreAddress;

process.on("disconnect", () => process.exit());

async function open(): Promise<PostgresStore | SqliteStore> {
  if (address.kind === "sqlite") return SqliteStore.connect(address.path, { ttlMs: 1 });
  if (address.kind === "postgres") return PostgresStore.connect(address.url, { ttlMs: 1, maxConnections: 2 });
  throw new Error(`There is nothing to purge in a store of the kind ${address.kind}.`);
}

let store: PostgresStore | SqliteStore | undefined;
let purged = 0;
for (;;) {
  try {
    store ??= await open();
    await store.rememberMany(Array.from({ length: marksAtOnce }, () => `expired-${randomUUID()}`));
    await pause(2);
    purged += await store.purge();
    process.send?.({ purged });
  } catch {
    // The store is away, as planned.
    await pause(50);
  }
}
