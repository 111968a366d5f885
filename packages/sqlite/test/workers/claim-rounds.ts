// Claims the ids of a block when it is told to begin, several in one turn, and answers with those that it won.
import { SqliteStore } from "../../src/index.ts";

const atOnce = 5;

const [, , path = "", blockSize = "0"] = process.argv;
const store = await SqliteStore.connect(path);
process.on("message", async (block: number) => {
  const won: string[] = [];
  for (let round = 0; round < Number(blockSize); round += atOnce) {
    const first = block * Number(blockSize) + round;
    const ids = Array.from({ length: atOnce }, (_, place) => `round-${first + place}`);
    const results = await Promise.all(ids.map((id) => store.claim(id, 600_000)));
    won.push(...ids.filter((_, place) => results[place]?.status === "claimed"));
  }
  process.send?.(won);
});
process.send?.("ready");
