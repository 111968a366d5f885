import { expect, it } from "vitest";
import { freshName, openStore, plainClient } from "./support/database.ts";

const many = 100_000;

/** The median time of a call, in milliseconds: a busy machine delays some calls, not half of them. */
async function medianMs(call: (turn: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 200; turn++) {
    const startedAt = performance.now();
    await call(turn);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[100] ?? 0;
}

it("among 100 000 marks seen reads as few pages as among 100, by the index, and takes no longer", async () => {
  const table = freshName();
  const statements: string[] = [];
  const sql = plainClient(undefined, { max: 1, debug: (_, text) => statements.push(text) });
  const [small, large] = [
    await openStore({ maxConnections: 1 }),
    await openStore({ table, maxConnections: 1 }),
  ];
  await small.rememberMany(Array.from({ length: 100 }, (_, number) => `id-${number}`));
  await large.rememberMany(Array.from({ length: many }, (_, number) => `id-${number}`));
  await sql.unsafe(`VACUUM ANALYZE "${table}"`);

  const among100 = await medianMs((turn) => small.seen(`id-${turn % 100}`));
  const amongMany = await medianMs((turn) => large.seen(`id-${(turn * 499) % many}`));
  expect(amongMany).toBeLessThan(among100 * 5 + 1);

  const { PostgresStore } = await import("../src/index.ts");
  await new PostgresStore(sql, { table }).seen("id-1");
  const seen = statements.at(-1)?.replaceAll("$1", "'q'").replaceAll("$2", "'id-77777'") ?? "";
  const plan = (await sql.unsafe(`EXPLAIN (ANALYZE, BUFFERS) ${seen}`).values()).flat().join("\n");
  expect(plan).toMatch(/Index (Only )?Scan using/);
  expect(plan).not.toMatch(/Seq Scan/);
  const pages = [...plan.matchAll(/(?:hit|read)=(\d+)/g)].map(([, count]) => Number(count));
  expect(Math.max(...pages)).toBeLessThan(10);
});
