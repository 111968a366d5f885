import fc from "fast-check";
import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";
import { distinctIds } from "./support/distinct-ids.ts";
import { Model, type Step } from "./support/model.ts";

const ids = ["a", "A", "a ", "\u0000", "\ud83d", distinctIds.at(-10) ?? ""];
const id = fc.constantFrom(...ids);
const someIds = fc.array(id, { maxLength: 5 });
const worker = fc.nat({ max: 2 });

/** One call, by one of the workers; claims are told by their place in the row of all claims that were got. */
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ call: fc.constantFrom("seen" as const, "remember" as const, "forget" as const), id, worker }),
  fc.record({ call: fc.constantFrom("seenMany" as const, "rememberMany" as const), ids: someIds, worker }),
  fc.record({ call: fc.constant("claim" as const), id, worker }),
  fc.record({
    call: fc.constantFrom("renew" as const, "commit" as const, "release" as const),
    claim: fc.nat({ max: 7 }),
    worker,
  }),
  fc.record({ call: fc.constant("transact" as const), id, fails: fc.boolean(), worker }),
  fc.record({ call: fc.constant("lapse" as const), id, worker }),
  fc.record({ call: fc.constant("expire" as const), id, worker }),
  fc.record({ call: fc.constant("purge" as const), worker }),
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
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await sql`DELETE FROM ${sql(table)}`;
      const model = new Model(sql, table);
      for (const each of steps) {
        const [answer, expected] = await model.step(workers[each.worker] as PostgresStore, each);
        expect(answer, `${each.call} in ${fc.stringify(steps)}`).toEqual(expected);
      }
      for (const store of workers)
        expect(await store.seenMany(ids)).toEqual(ids.map((each) => model.seen(each)));
    }),
    { numRuns: 60 },
  );
});
