import assert from "node:assert/strict";
import { show } from "@bq/idempotency-core/backend";
import type { CaseDefinition } from "./definition.ts";
import { expectError, expectSeenByAll, rejection } from "./expect.ts";
import { andThen, TransactionBench } from "./transaction-bench.ts";

/** The store inside a transaction that its caller opened. */
export const withinCases: readonly CaseDefinition[] = [
  {
    id: "transactions/within-commits",
    title: "a mark that is written within the caller's transaction is kept with it",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await effects.begin(own, (tx) =>
        andThen(own.within(tx).remember("order-1"), () => effects.writing("charged")(tx)),
      );
      await effects.expectBoth([own, other], "order-1", "charged", true, "after the caller's commit");
    },
  },
  {
    id: "transactions/within-rolls-back",
    title: "a mark that is written within the caller's transaction is dropped with it",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const failure = new Error("rolled back");
      const caught = await rejection(() =>
        effects.begin(own, (tx) =>
          andThen(own.within(tx).remember("order-1"), () =>
            effects.writingAndThrowing("charged", failure)(tx),
          ),
        ),
      );
      assert.equal(caught[0], failure, "what the caller's transaction rejects with");
      await effects.expectBoth([own, other], "order-1", "charged", false, "after the caller's rollback");
      assert.equal((await other.transact("order-1", () => 1)).status, "ran", "transact by a redelivery");
    },
  },
  {
    id: "transactions/within-sees",
    title: "within the caller's transaction, its own marks are seen, and those that others committed",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await other.remember("committed");
      const answers: unknown[] = [];
      await effects.begin(own, (tx) => {
        const inside = own.within(tx);
        const ask = (id: string) => andThen(inside.seen(id), (seen) => void answers.push(id, seen));
        return andThen(ask("committed"), () =>
          andThen(ask("fresh"), () => andThen(inside.remember("fresh"), () => ask("fresh"))),
        );
      });
      assert.deepEqual(answers, ["committed", true, "fresh", false, "fresh", true], "answers of seen inside");
    },
  },
  {
    id: "transactions/within-forgets",
    title: "a forget within the caller's transaction takes effect when that commits, and only then",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await other.remember("order-1");
      await rejection(() =>
        effects.begin(own, (tx) =>
          andThen(own.within(tx).forget("order-1"), () => {
            throw new Error("rolled back");
          }),
        ),
      );
      await expectSeenByAll([own, other], "order-1", true, "after a forget that was rolled back");
      await effects.begin(own, (tx) => own.within(tx).forget("order-1"));
      await expectSeenByAll([own, other], "order-1", false, "after a forget that was committed");
    },
  },
  {
    id: "transactions/within-duplicate",
    title: "remembering a marked id within the caller's transaction succeeds and does not abort it",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await other.remember("order-1");
      await effects.begin(own, (tx) => {
        const inside = own.within(tx);
        return andThen(inside.remember("order-1"), () =>
          andThen(inside.remember("order-2"), () =>
            andThen(inside.remember("order-2"), () => effects.writing("charged")(tx)),
          ),
        );
      });
      await effects.expectBoth([own, other], "order-1", "charged", true, "after the duplicate mark");
      await expectSeenByAll([own, other], "order-2", true, "after it was marked twice");
    },
  },
  {
    id: "transactions/within-unusable-id",
    title: "within the caller's transaction, an unusable id throws TypeError as it does outside",
    needs: ["transactions"],
    async body(bench) {
      const store = await bench.openTransactional();
      const effects = new TransactionBench(bench);
      for (const method of ["seen", "remember", "forget"] as const) {
        for (const id of ["", undefined, 7] as never[]) {
          await expectError(
            ["TypeError"],
            () => effects.begin(store, (tx) => store.within(tx)[method](id) as PromiseLike<void>),
            `within(tx).${method} with the id ${show(id)}`,
          );
        }
      }
    },
  },
];
