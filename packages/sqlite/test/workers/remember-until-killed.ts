// Remembers one id after another, many at a time, and tells each one that the store has acknowledged.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", prefix = "", concurrency = "1"] = process.argv;
const store = await SqliteStore.connect(path);

async function deliver(worker: number): Promise<never> {
  for (let count = 0; ; count++) {
    const id = `${prefix}-${worker}-${count}`;
    await store.remember(id);
    process.send?.(id);
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, (_, worker) => deliver(worker)));
