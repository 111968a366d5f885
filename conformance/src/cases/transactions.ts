import assert from "node:assert/strict";
import { wrapTransactional } from "@bq/idempotency-core";
import { show } from "@bq/idempotency-core/backend";
import { type CaseDefinition, longLeaseMs, shortLeaseMs, shortTtlMs } from "./definition.ts";
import { expectError, expectInFlight, expectSeenByAll, rejection, take } from "./expect.ts";
import { idKinds } from "./id-kinds.ts";
import { overlappingTransactionCases } from "./overlapping-transactions.ts";
import { TransactionBench } from "./transaction-bench.ts";
import { withinCases } from "./within.ts";

const noWork = () => assert.fail("the work must not run");

const transactCases: readonly CaseDefinition[] = [
  {
    id: "transactions/ran",
    title: "transact keeps the effect with the mark and passes the value of the work back",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const result = await own.transact("order-1", effects.writing("charged-1"));
      assert.deepEqual(result, { status: "ran", value: "charged-1" }, "result of transact");
      await effects.expectBoth([own, other], "order-1", "charged-1", true, "after transact ran");
      assert.deepEqual(
        await other.transact("order-2", () => undefined),
        { status: "ran", value: undefined },
        "result of work without an effect and without a value",
      );
      await expectSeenByAll([own, other], "order-2", true, "after work without an effect");
      await expectSeenByAll([own, other], "order-3", false, "though only other ids ran");
    },
  },
  {
    id: "transactions/duplicate",
    title: "transact on a marked id answers processed and does not run the work",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await own.transact("order-1", effects.writing("first"));
      await own.remember("remembered");
      for (const store of [own, other]) {
        for (const id of ["order-1", "remembered"]) {
          assert.deepEqual(await store.transact(id, noWork), { status: "processed" }, `transact on ${id}`);
        }
      }
      await effects.expectBoth([own, other], "order-1", "first", true, "after the duplicates");
    },
  },
  {
    id: "transactions/throws",
    title:
      "work that throws leaves neither effect nor mark, what it threw passes through, and a redelivery runs",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      for (const [index, thrown] of [new Error("no"), "no", undefined].entries()) {
        const [id, effect] = [`order-${index}`, `charged-${index}`];
        const caught = await rejection(() => own.transact(id, effects.writingAndThrowing(effect, thrown)));
        assert.equal(caught.length, 1, "transact rejects when the work throws");
        assert.equal(caught[0], thrown, `transact rejects with what the work threw, ${show(thrown)}`);
        await effects.expectBoth([own, other], id, effect, false, "after the work threw");
        const again = await other.transact(id, effects.writing(effect));
        assert.equal(again.status, "ran", "transact by a redelivery");
        await effects.expectBoth([own, other], id, effect, true, "after the redelivery");
      }
    },
  },
  {
    id: "transactions/forgotten",
    title: "transact runs again on an id that was forgotten",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      await own.transact("order-1", effects.writing("first"));
      await other.forget("order-1");
      assert.equal((await own.transact("order-1", effects.writing("second"))).status, "ran", "transact");
      await effects.expectBoth([own, other], "order-1", "second", true, "after it ran again");
    },
  },
  {
    id: "transactions/no-id",
    title: "without an id, transact runs the work every time, still in one transaction, and marks nothing",
    needs: ["transactions"],
    async body(bench) {
      const store = await bench.openTransactional();
      const effects = new TransactionBench(bench);
      for (const effect of ["first", "second"]) {
        assert.deepEqual(
          await store.transact(undefined, effects.writing(effect)),
          { status: "ran", value: effect },
          "result of transact without an id",
        );
        assert.equal(await effects.isWritten(effect), true, "the effect is written");
      }
      const caught = await rejection(() =>
        store.transact(undefined, effects.writingAndThrowing("third", "no")),
      );
      assert.deepEqual(caught, ["no"], "what transact rejects with");
      assert.equal(await effects.isWritten("third"), false, "the effect of work that threw is written");
      for (const id of ["undefined", "null", " "]) {
        assert.equal(await store.seen(id), false, `seen(${show(id)}) after work without an id`);
      }
    },
  },
  {
    id: "transactions/unusable-id",
    title: "transact throws TypeError for an unusable id and does not run the work",
    needs: ["transactions"],
    async body(bench) {
      const store = await bench.openTransactional();
      for (const id of ["", null, 0, 7, true, {}] as never[]) {
        await expectError(
          ["TypeError"],
          () => store.transact(id, noWork),
          `transact with the id ${show(id)}`,
        );
      }
    },
  },
  {
    id: "transactions/ids",
    title: "transact takes every kind of id for itself alone",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const wrong: string[] = [];
      for (const { kind, id } of idKinds) {
        const first = await own.transact(id, () => kind);
        const second = await other.transact(id, () => kind);
        const right = first.status === "ran" && second.status === "processed" && (await own.seen(id));
        if (!right) wrong.push(`${kind}: ${first.status}, then ${second.status}`);
      }
      assert.deepEqual(wrong, [], "kinds of ids that did not run once");
    },
  },
  {
    id: "transactions/ttl",
    title: "the mark of a transaction expires when its TTL is over, and the id runs again",
    needs: ["transactions", "ttl"],
    ttlMs: shortTtlMs,
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      await own.transact("much-later", () => "first");
      await bench.outlast(shortTtlMs);
      await expectSeenByAll([own, other], "much-later", false, "after the TTL");
      const again = await other.transact("much-later", () => "second");
      assert.deepEqual(again, { status: "ran", value: "second" }, "transact after the TTL");
    },
  },
  {
    id: "transactions/claimed",
    title: "transact on an id that is claimed elsewhere answers in-flight, runs nothing and leaves the claim",
    needs: ["transactions", "claims"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openClaiming()];
      const claim = await take(other, "held", longLeaseMs);
      const result = await own.transact("held", noWork);
      assert.equal(result.status, "in-flight", "transact while another holds the id");
      assert.ok(result.status === "in-flight");
      assert.ok(
        result.retryAfterMs > 0 && result.retryAfterMs <= longLeaseMs,
        `retryAfterMs is within the lease, got ${show(result.retryAfterMs)}`,
      );
      await expectInFlight(other, "held", longLeaseMs, "after transact was refused");
      assert.equal(await other.renew(claim, longLeaseMs), true, "renew by the holder");
      assert.equal(await own.seen("held"), false, "seen after transact was refused");
    },
  },
  {
    id: "transactions/lapsed",
    title: "transact on an id whose claim lapsed runs, and the late worker can do no harm to its mark",
    needs: ["transactions", "claims"],
    async body(bench) {
      const [own, late] = [await bench.openTransactional(), await bench.openClaiming()];
      const claim = await take(late, "ran-long", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      const result = await own.transact("ran-long", () => "next");
      assert.deepEqual(result, { status: "ran", value: "next" }, "transact after the lease");
      assert.equal(await late.renew(claim, longLeaseMs), false, "renew by the late worker");
      assert.equal(await late.release(claim), false, "release by the late worker");
      await expectSeenByAll([own, late], "ran-long", true, "after the late worker's release");
      assert.equal(await late.commit(claim), false, "commit by the late worker");
    },
  },
  {
    id: "transactions/promise",
    title: "synchronous work that returns a promise is rolled back with an error",
    needs: ["transactions", "sync-work"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      // Not an async function, which a store could tell by its kind before it runs.
      const work = (tx: unknown) => effects.write(tx, "half-done", () => Promise.resolve("later"));
      const caught = await rejection(() => own.transact("promised", work));
      assert.equal(caught.length, 1, "transact rejects when the work returns a promise");
      assert.ok(caught[0] instanceof Error, "with an error that says so");
      await effects.expectBoth([own, other], "promised", "half-done", false, "after the work was refused");
      assert.equal((await other.transact("promised", () => 1)).status, "ran", "transact by a redelivery");
    },
  },
  {
    id: "transactions/closed-tx",
    title: "once transact has settled, its transaction takes no further writes",
    needs: ["transactions", "closing-tx"],
    async body(bench) {
      const store = await bench.openTransactional();
      const effects = new TransactionBench(bench);
      for (const outcome of ["ran", "threw"]) {
        let kept: unknown;
        const work = (tx: unknown) => {
          kept = tx;
          if (outcome === "threw") throw new Error("over");
        };
        await rejection(() => store.transact(`kept-${outcome}`, work));
        const caught = await rejection(() => effects.write(kept, `late-${outcome}`, () => undefined));
        assert.equal(caught.length, 1, `a write after transact ${outcome} is refused`);
        assert.equal(await effects.isWritten(`late-${outcome}`), false, "the late effect is written");
      }
    },
  },
  {
    id: "transactions/wrap",
    title: "under wrapTransactional, effect and mark are kept together or not at all",
    needs: ["transactions"],
    async body(bench) {
      const [own, other] = [await bench.openTransactional(), await bench.openTransactional()];
      const effects = new TransactionBench(bench);
      const message = { meta: { id: "delivered-twice" } };
      const failing = wrapTransactional(own, (_: typeof message, tx) =>
        effects.writingAndThrowing("charged", "no")(tx),
      );
      assert.deepEqual(await rejection(() => failing(message)), ["no"], "what the delivery rejects with");
      await effects.expectBoth([own, other], message.meta.id, "charged", false, "after the handler threw");
      const deliver = wrapTransactional(other, (_: typeof message, tx) => effects.writing("charged")(tx));
      assert.equal(await deliver(message), "charged", "the redelivery");
      await effects.expectBoth([own, other], message.meta.id, "charged", true, "after the redelivery");
      assert.equal(await wrapTransactional(own, noWork)(message), undefined, "another redelivery");
    },
  },
];

/** `transact`, transactions that overlap, and `within`. */
export const transactionCases: readonly CaseDefinition[] = [
  ...transactCases,
  ...overlappingTransactionCases,
  ...withinCases,
];
