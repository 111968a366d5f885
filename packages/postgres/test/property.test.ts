import fc from "fast-check";
import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";
import { Model, type Step } from "./support/model.ts";
import { steps } from "./support/steps.ts";

const ids = ["a", "A", "a ", "\u0000", "\ud83d", "y".repeat(4_000)];
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: steps(ids, 3), weight: 15 },
  {
    arbitrary: fc.record({ call: fc.constant("purge" as const), worker: fc.nat({ max: 2 }) }),
    weight: 1,
  },
);

it("whatever three workers do in whatever order, every answer is that of a plain model", async () => {
  const table = freshName();
  const sql = plainClient();
  const workers: readonly PostgresStore[] = [
    await openStore({ table, ttlMs: 3_600_000 }),
    await openStore({ table, ttlMs: 3_600_000, prepare: false }),
    new PostgresStore(sql, { table, ttlMs: 3_600_000 }),
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (taken) => {
      await sql`DELETE FROM ${sql(table)}`;
      const model = new Model(sql, table);
      for (const each of taken) {
        const [answer, expected] = await model.step(workers[each.worker] as PostgresStore, each);
        expect(answer, `${each.call} in ${fc.stringify(taken)}`).toEqual(expected);
      }
      for (const store of workers)
        expect(await store.seenMany(ids)).toEqual(ids.map((each) => model.seen(each)));
    }),
    { numRuns: 60 },
  );
});

it("of many workers at once, each finds what it did before, whatever statements its calls shared with those of others", async () => {
  const table = freshName();
  const sql = plainClient();
  const stores: readonly PostgresStore[] = [
    await openStore({ table, ttlMs: 3_600_000 }),
    await openStore({ table, ttlMs: 3_600_000, maxConnections: 2 }),
  ];
  const callers = Array.from({ length: 32 }, (_, caller) => [`${caller}-a`, `${caller}-b`]);
  const lives = fc.tuple(...callers.map((own) => fc.array(steps(own, stores.length), { maxLength: 20 })));
  await fc.assert(
    fc.asyncProperty(lives, async (taken) => {
      await sql`DELETE FROM ${sql(table)}`;
      const live = async (own: readonly Step[]) => {
        const model = new Model(sql, table);
        for (const each of own) {
          const [answer, expected] = await model.step(stores[each.worker] as PostgresStore, each);
          expect(answer, `${each.call} in ${fc.stringify(own)}`).toEqual(expected);
        }
      };
      await Promise.all(taken.map(live));
    }),
    { numRuns: 10, endOnFailure: true },
  );
});
