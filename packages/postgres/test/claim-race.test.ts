import { expect, it } from "vitest";
import { freshName, openStore, sharedUrl } from "./support/database.ts";
import { WorkerProcess } from "./support/worker-process.ts";

const workers = 8;
const blocks = 20;
const blockSize = 50;

it("of 8 processes that claim one id exactly one gets it, in each of 1 000 rounds", async () => {
  const table = freshName();
  await openStore({ table });
  const processes = Array.from(
    { length: workers },
    () => new WorkerProcess("claim-rounds", [sharedUrl, table, String(blockSize)]),
  );
  for (const process of processes) expect(await process.receive()).toBe("ready");

  const winners = new Map<string, number>();
  const blocksWithSeveralWinners = new Set<number>();
  for (let block = 0; block < blocks; block++) {
    for (const process of processes) process.send(block);
    const won = await Promise.all(processes.map((process) => process.receive<string[]>()));
    for (const id of won.flat()) winners.set(id, (winners.get(id) ?? 0) + 1);
    if (won.filter((ids) => ids.length > 0).length > 1) blocksWithSeveralWinners.add(block);
  }

  expect(winners.size).toBe(blocks * blockSize);
  expect([...winners.values()].every((count) => count === 1)).toBe(true);
  // Otherwise one process was always first and nothing was raced for.
  expect(blocksWithSeveralWinners.size).toBeGreaterThan(0);
});
