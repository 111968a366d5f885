// Prints what a mark of a UUID takes in the file, and how fast marks are read and written: node --run measure
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore } from "../src/index.ts";

const marks = 200_000;
const batchSize = 1_000;
const singles = 2_000;

const folder = mkdtempSync(join(tmpdir(), "bq-sqlite-measure-"));
try {
  const path = join(folder, "marks.db");
  const store = await SqliteStore.connect(path, { ttlMs: 7 * 24 * 3_600_000 });

  const inBatches = performance.now();
  for (let written = 0; written < marks; written += batchSize) {
    await store.rememberMany(Array.from({ length: batchSize }, () => randomUUID()));
  }
  report("rememberMany, a mark, in batches of 1 000", (performance.now() - inBatches) / marks);

  const ids = Array.from({ length: singles }, () => randomUUID());
  await timed("remember", ids, (id) => store.remember(id));
  await timed("seen", ids, (id) => store.seen(id));
  await timed("claim and commit", ids, async (id) => {
    const result = await store.claim(`claimed-${id}`, 60_000);
    if (result.status === "claimed") await store.commit(result.claim);
  });

  await store.close();
  const bytes = statSync(path).size / (marks + 2 * singles);
  console.log(`${Math.round(bytes)} bytes for each mark of a UUID`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function timed(
  what: string,
  ids: readonly string[],
  call: (id: string) => PromiseLike<unknown> | unknown,
): Promise<void> {
  const startedAt = performance.now();
  for (const id of ids) await call(id);
  report(what, (performance.now() - startedAt) / ids.length);
}

function report(what: string, ms: number): void {
  console.log(`${(ms * 1_000).toFixed(1)} µs for ${what}`);
}
