// Does every operation at full speed for a while, many deliveries at a time, and tells what failed, and for each statement that
// met a lock how long that held the event loop. Others held it for as long as the disk took, which is not what is looked for.
import Database from "better-sqlite3";
import { SqliteStore } from "../../src/index.ts";

const concurrency = 16;

const heldMs: number[] = [];

class TimedDatabase extends Database {
  override exec(sql: string): this {
    const startedAt = performance.now();
    try {
      return super.exec(sql);
    } catch (error) {
      heldMs.push(performance.now() - startedAt);
      throw error;
    }
  }
}

const [, , path = "", name = "", forMs = "0"] = process.argv;
const database = new TimedDatabase(path);
const store = new SqliteStore(database, { ttlMs: 600_000 });
const failures: string[] = [];
let count = 0;

async function deliver(own: string, shared: string): Promise<void> {
  await store.remember(own);
  if (!(await store.seen(own))) failures.push(`${own} was remembered and is not seen`);
  const result = await store.claim(shared, 60_000);
  if (result.status === "claimed") await store.release(result.claim);
  await store.transact(`${own}-transacted`, () => undefined);
  await store.rememberMany([`${own}-a`, `${own}-b`, shared]);
  await store.forget(shared);
}

async function work(until: number): Promise<void> {
  while (performance.now() < until) {
    const number = count++;
    await deliver(`${name}-${number}`, `shared-${number % 50}`).catch((error) =>
      failures.push(String(error)),
    );
    await new Promise(setImmediate);
  }
}

process.on("message", async () => {
  const until = performance.now() + Number(forMs);
  await Promise.all(Array.from({ length: concurrency }, () => work(until)));
  process.send?.({ count, failures, heldMs });
  await store.close();
  database.close();
});
process.send?.("ready");
