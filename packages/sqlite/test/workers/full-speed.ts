// Does every operation at full speed for a while, and tells how often it met a lock, how long its calls held the event loop,
// and what failed.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", name = "", forMs = "0"] = process.argv;
const store = await SqliteStore.connect(path, { ttlMs: 600_000 });
const heldMs: number[] = [];
const failures: string[] = [];
let waits = 0;

async function timed<T>(call: () => T | PromiseLike<T>): Promise<T> {
  const startedAt = performance.now();
  const answer = call();
  heldMs.push(performance.now() - startedAt);
  if (typeof (answer as PromiseLike<T>)?.then === "function") waits++;
  return answer;
}

process.on("message", async () => {
  const until = performance.now() + Number(forMs);
  let count = 0;
  for (; performance.now() < until; count++) {
    const own = `${name}-${count}`;
    const shared = `shared-${count % 50}`;
    try {
      await timed(() => store.remember(own));
      if (!(await timed(() => store.seen(own)))) failures.push(`${own} was remembered and is not seen`);
      const result = await timed(() => store.claim(shared, 60_000));
      if (result.status === "claimed") await timed(() => store.release(result.claim));
      await store.transact(`${own}-transacted`, () => undefined);
      await timed(() => store.rememberMany([`${own}-a`, `${own}-b`, shared]));
      await timed(() => store.forget(shared));
    } catch (error) {
      failures.push(String(error));
    }
    await new Promise(setImmediate);
  }
  heldMs.sort((a, b) => a - b);
  const held = (part: number): number => heldMs[Math.floor((heldMs.length - 1) * part)] ?? 0;
  process.send?.({ count, waits, failures, heldMs: { p99: held(0.99), p999: held(0.999), max: held(1) } });
  await store.close();
});
process.send?.("ready");
