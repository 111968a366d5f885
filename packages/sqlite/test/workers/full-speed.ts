// Does every operation at full speed for a while, and tells what failed, and for each call that met a lock how long that held
// the event loop. A call that met none held it for as long as the disk took, which is not what is looked for here.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", name = "", forMs = "0"] = process.argv;
const store = await SqliteStore.connect(path, { ttlMs: 600_000 });
const heldMs: number[] = [];
const failures: string[] = [];

async function timed<T>(call: () => T | PromiseLike<T>): Promise<T> {
  const startedAt = performance.now();
  const answer = call();
  const endedAt = performance.now();
  if (typeof (answer as PromiseLike<T>)?.then === "function") heldMs.push(endedAt - startedAt);
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
  process.send?.({ count, failures, heldMs });
  await store.close();
});
process.send?.("ready");
