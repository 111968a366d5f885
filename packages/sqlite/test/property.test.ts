import fc from "fast-check";
import { expect, it } from "vitest";
import type { SqliteStore } from "../src/index.ts";
import { type Answer, type Call, type Deed, Model, type Turn } from "./support/model.ts";
import { borrow, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

const ids = ["a", "A", "a ", "\u0000", "\ud83d", "y".repeat(4_000)];
const id = fc.constantFrom(...ids);
const someIds = fc.array(id, { maxLength: 5 });

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ call: fc.constantFrom("seen" as const, "remember" as const, "forget" as const), id }),
  fc.record({ call: fc.constantFrom("seenMany" as const, "rememberMany" as const), ids: someIds }),
  fc.record({ call: fc.constant("claim" as const), id }),
  fc.record({
    call: fc.constantFrom("renew" as const, "commit" as const, "release" as const),
    claim: fc.nat({ max: 7 }),
  }),
);

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ call: fc.constant("transact" as const), id, fails: fc.boolean() }),
  fc.record({ call: fc.constantFrom("lapse" as const, "expire" as const), id }),
  fc.record({ call: fc.constant("purge" as const) }),
);

const turn: fc.Arbitrary<Turn> = fc.record({
  worker: fc.nat({ max: 2 }),
  steps: fc.oneof(
    { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.tuple(deed) },
  ),
});

it("whatever three workers call in whatever turns, every answer is that of a plain model that is called in order", async () => {
  const path = temporaryFile();
  const database = openDatabase(path);
  const workers: readonly SqliteStore[] = [
    await openStore(path, { ttlMs: 3_600_000 }),
    await openStore(path, { ttlMs: 3_600_000 }),
    await borrow(openDatabase(path), { ttlMs: 3_600_000 }),
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), async (turns) => {
      database.exec("DELETE FROM babelqueue_idempotency");
      const model = new Model(database);
      for (const { worker, steps } of turns) {
        const store = workers[worker] as SqliteStore;
        const answers: Answer[] = await Promise.all(steps.map((step) => model.step(store, step)));
        for (const [place, { given, right }] of answers.entries())
          expect(given, `${steps[place]?.call} in ${fc.stringify(turns)}`).toEqual(right);
      }
      for (const store of workers)
        expect(await store.seenMany(ids)).toEqual(ids.map((each) => model.seen(each)));
    }),
    { numRuns: 200 },
  );
});
