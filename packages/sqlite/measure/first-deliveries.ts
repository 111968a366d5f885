// Prints how many first deliveries a second the store makes possible, beside better-sqlite3 used by hand with one statement
// per call, at the same durability: npm run measure
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wrap } from "@bq/idempotency-core";
import Database from "better-sqlite3";
import { SqliteStore } from "../src/index.ts";

type Deliver = (message: { meta: { id: string } }) => Promise<unknown>;

const rounds = Number(process.argv[2] ?? 7);
const roundMs = Number(process.argv[3] ?? 700);

const folder = mkdtempSync(join(tmpdir(), "bq-sqlite-measure-"));
const plain = openPlain(join(folder, "plain.db"));
const store = await SqliteStore.connect(join(folder, "ours.db"));
try {
  const ours = wrap(store, async () => undefined);
  for (const concurrency of [1, 64]) {
    const ratios: number[] = [];
    const perSecond = { plain: [] as number[], ours: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      const figures = {
        plain: await drive(plain.deliver, concurrency),
        ours: await drive(ours, concurrency),
      };
      // The first one is the warm-up.
      if (round === 0) continue;
      perSecond.plain.push(figures.plain);
      perSecond.ours.push(figures.ours);
      ratios.push(figures.ours / figures.plain);
    }
    console.log(
      `concurrency ${concurrency}: plain ${Math.round(median(perSecond.plain))}/s, ours ${Math.round(median(perSecond.ours))}/s, ratio ${spread(ratios)}`,
    );
  }
} finally {
  await store.close();
  plain.close();
  rmSync(folder, { recursive: true, force: true });
}

function openPlain(path: string): { deliver: Deliver; close: () => void } {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE seen (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID");
  const look = database.prepare("SELECT 1 FROM seen WHERE id = ?").pluck();
  const mark = database.prepare("INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING");
  const deliver: Deliver = async ({ meta: { id } }) => {
    if (look.get(id) === undefined) mark.run(id, Date.now());
  };
  return { deliver, close: () => database.close() };
}

/** So many workers deliver one message after another for a while; answers with the deliveries per second. */
async function drive(deliver: Deliver, concurrency: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const work = async (): Promise<void> => {
    while (performance.now() - startedAt < roundMs) {
      await deliver({ meta: { id: randomUUID() } });
      count++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return (count / (performance.now() - startedAt)) * 1_000;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function spread(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
}
