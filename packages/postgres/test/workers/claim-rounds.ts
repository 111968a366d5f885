// Claims the ids of a block when it is told to begin, and answers with those that it won.
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = "", blockSize = "0"] = process.argv;
const store = await PostgresStore.connect(url, { table, maxConnections: 1 });
process.on("message", async (block: number) => {
  const won: string[] = [];
  for (let round = 0; round < Number(blockSize); round++) {
    const id = `round-${block * Number(blockSize) + round}`;
    const result = await store.claim(id, 600_000);
    if (result.status === "claimed") won.push(id);
  }
  process.send?.(won);
});
process.send?.("ready");
