import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { CaseDefinition } from "./definition.ts";
import { expectSeenByAll, rejection } from "./expect.ts";
import { gate, TransactionBench } from "./transaction-bench.ts";

/** Long enough for a second transaction to reach the database and wait there, in milliseconds. */
const underWayMs = 100;

/** Transactions on several handles at the same time. */
export const overlappingTransactionCases: readonly CaseDefinition[] = [
  {
    id: "transactions/at-once",
    title: "of concurrent transactions for one id exactly one runs and leaves its effect",
    needs: ["transactions"],
    async body(bench) {
      const effects = new TransactionBench(bench);
      const handles = [
        await bench.openTransactional(),
        await bench.openTransactional(),
        await bench.openTransactional(),
      ];
      for (let round = 1; round <= 10; round++) {
        const names = handles.map((_, index) => `effect-${round}-${index}`);
        const results = await Promise.all(
          handles.map((store, index) =>
            store.transact(`order-${round}`, effects.writing(names[index] ?? "")),
          ),
        );
        const ran = results.filter(({ status }) => status === "ran");
        assert.equal(ran.length, 1, "concurrent transactions that ran");
        assert.equal(await effects.countWritten(names), 1, "effects of concurrent transactions");
        await expectSeenByAll(handles, `order-${round}`, true, "after one of them ran");
      }
    },
  },
  {
    id: "transactions/unseen-before-commit",
    title: "nobody sees the mark or the effect before the transaction commits",
    needs: ["transactions", "async-work"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await own.transact("under-way", (tx) =>
        effects.write(tx, "written-early", () =>
          effects.expectBoth([other], "under-way", "written-early", false, "while the work runs"),
        ),
      );
      await effects.expectBoth([own, other], "under-way", "written-early", true, "after the commit");
    },
  },
  {
    id: "transactions/waits-for-commit",
    title: "a duplicate that comes while the transaction is under way does not run when that commits",
    needs: ["transactions", "async-work"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const [started, finish] = [gate(), gate()];
      const first = own.transact("under-way", (tx) =>
        effects.write(tx, "first", async () => {
          started.open();
          await finish.opened;
        }),
      );
      await Promise.race([started.opened, first]);
      const second = other.transact("under-way", effects.writing("second"));
      second.catch(() => {});
      await pause(underWayMs);
      finish.open();
      assert.equal((await first).status, "ran", "the first transaction");
      const { status } = await second;
      assert.ok(
        status === "processed" || status === "in-flight",
        `the duplicate must not run, but ${status}`,
      );
      assert.equal(await effects.isWritten("second"), false, "the effect of the duplicate is written");
      assert.equal(
        (await other.transact("under-way", effects.writing("second"))).status,
        "processed",
        "a later duplicate",
      );
    },
  },
  {
    id: "transactions/waits-for-rollback",
    title: "a duplicate that comes while the transaction is under way can run when that rolls back",
    needs: ["transactions", "async-work"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const [started, finish] = [gate(), gate()];
      const first = rejection(() =>
        own.transact("under-way", (tx) =>
          effects.write(tx, "first", async () => {
            started.open();
            await finish.opened;
            throw new Error("rolled back");
          }),
        ),
      );
      await Promise.race([started.opened, first]);
      const second = other.transact("under-way", effects.writing("second"));
      second.catch(() => {});
      await pause(underWayMs);
      finish.open();
      assert.equal((await first).length, 1, "the first transaction rejects");
      let { status } = await second;
      // A store may refuse to wait that long; then the redelivery must run.
      if (status === "in-flight") ({ status } = await other.transact("under-way", effects.writing("second")));
      assert.equal(status, "ran", "the duplicate, or its redelivery");
      assert.equal(await effects.isWritten("first"), false, "the effect that was rolled back is written");
      await effects.expectBoth([own, other], "under-way", "second", true, "after the duplicate ran");
    },
  },
  {
    id: "transactions/other-id",
    title: "a transaction that is under way does not keep another id from running",
    needs: ["transactions", "async-work"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const outer = await own.transact("slow", (tx) =>
        effects.write(tx, "slow-effect", async () => {
          const inner = await other.transact("quick", effects.writing("quick-effect"));
          assert.equal(inner.status, "ran", "another id meanwhile");
          await effects.expectBoth([other], "quick", "quick-effect", true, "while the first is under way");
          return "slow";
        }),
      );
      assert.deepEqual(outer, { status: "ran", value: "slow" }, "the transaction that was under way");
      await effects.expectBoth([own, other], "slow", "slow-effect", true, "after both");
    },
  },
];
