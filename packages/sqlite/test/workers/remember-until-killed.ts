// Remembers one id after another and tells each one that the store has acknowledged.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", prefix = ""] = process.argv;
const store = await SqliteStore.connect(path);
for (let count = 0; ; count++) {
  const id = `${prefix}-${count}`;
  await store.remember(id);
  process.send?.(id);
  // The channel sends on the event loop.
  if (count % 10 === 0) await new Promise(setImmediate);
}
