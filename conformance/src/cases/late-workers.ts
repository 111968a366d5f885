import assert from "node:assert/strict";
import { wrapClaiming } from "@bq/idempotency-core";
import { type CaseDefinition, longLeaseMs, shortLeaseMs } from "./definition.ts";
import { expectInFlight, expectProcessed, expectSeenByAll, rejection, take } from "./expect.ts";

/** A worker whose lease lapsed goes on, and meets the one that took the id after it. */
export const lateWorkerCases: readonly CaseDefinition[] = [
  {
    id: "races/late-release",
    title: "a late worker that fails cannot release another worker's claim",
    needs: ["claims"],
    async body(bench) {
      const [late, next, third] = [
        await bench.openClaiming(),
        await bench.openClaiming(),
        await bench.openClaiming(),
      ];
      const lateClaim = await take(late, "ran-long", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      const claim = await take(next, "ran-long", longLeaseMs, "after the first lease");
      assert.equal(await late.release(lateClaim), false, "release by the late worker");
      await expectInFlight(third, claim.id, longLeaseMs, "after the late worker's release");
      assert.equal(await next.commit(claim), true, "commit by the next worker");
    },
  },
  {
    id: "races/late-renew",
    title: "a late worker can neither renew its claim nor change another worker's lease",
    needs: ["claims"],
    async body(bench) {
      const [late, next, third] = [
        await bench.openClaiming(),
        await bench.openClaiming(),
        await bench.openClaiming(),
      ];
      const lateClaim = await take(late, "ran-long", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      await take(next, lateClaim.id, longLeaseMs, "after the first lease");
      assert.equal(await late.renew(lateClaim, 1), false, "renew by the late worker");
      await bench.outlast(1);
      await expectInFlight(third, lateClaim.id, longLeaseMs, "after the late worker's renewal");

      const shortLate = await take(late, "ran-long-again", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      const short = await take(next, shortLate.id, shortLeaseMs, "after the first lease");
      assert.equal(await late.renew(shortLate, longLeaseMs), false, "renew by the late worker");
      await bench.outlast(shortLeaseMs);
      await take(third, short.id, longLeaseMs, "after the next worker's lease, which nobody may lengthen");
    },
  },
  {
    id: "races/late-commit",
    title:
      "a late worker that succeeds marks the id and learns false, and the mark outlives the other's settling",
    needs: ["claims"],
    async body(bench) {
      const [late, next] = [await bench.openClaiming(), await bench.openClaiming()];
      for (const settle of ["commit", "release"] as const) {
        const lateClaim = await take(late, `ran-long-${settle}`, shortLeaseMs);
        await bench.outlast(shortLeaseMs);
        const claim = await take(next, lateClaim.id, longLeaseMs, "after the first lease");
        assert.equal(await late.commit(lateClaim), false, "commit by the late worker");
        await expectSeenByAll([late, next], claim.id, true, "after the late worker's commit");
        assert.equal(await next[settle](claim), false, `${settle} by the next worker, after the mark`);
        await expectSeenByAll([late, next], claim.id, true, `after the next worker's ${settle}`);
        await expectProcessed(late, claim.id, longLeaseMs, `after the next worker's ${settle}`);
      }
    },
  },
  {
    id: "races/late-after-commit",
    title: "a late worker cannot drop the mark of the worker that came after it",
    needs: ["claims"],
    async body(bench) {
      const [late, next] = [await bench.openClaiming(), await bench.openClaiming()];
      const lateClaim = await take(late, "ran-long", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      const claim = await take(next, lateClaim.id, longLeaseMs, "after the first lease");
      assert.equal(await next.commit(claim), true, "commit by the next worker");
      assert.equal(await late.renew(lateClaim, longLeaseMs), false, "renew by the late worker");
      assert.equal(await late.release(lateClaim), false, "release by the late worker");
      await expectSeenByAll([late, next], claim.id, true, "after the late worker's release");
    },
  },
  {
    id: "races/crashed",
    title:
      "the id of a worker that died is in flight until its lease is over, is never taken for processed, and then runs again",
    needs: ["claims"],
    async body(bench) {
      const [dead, alive] = [await bench.openClaiming(), await bench.openClaiming()];
      await bench.inTime(async (round) => {
        const id = `died-${round}`;
        const startedAt = bench.now();
        await take(dead, id, 1_000);
        if (round === 1) await bench.close(dead);
        const { status } = await alive.claim(id, longLeaseMs);
        if (bench.atMostSince(startedAt) >= 900) return false;
        assert.equal(status, "in-flight", "a redelivery within the lease of the dead worker");
        await bench.outlast(1_000, startedAt);
        await bench.eventually("a redelivery gets the id after the lease", async () => {
          const result = await alive.claim(id, longLeaseMs);
          assert.notEqual(result.status, "processed", "a redelivery of what nobody processed");
          return result.status === "claimed";
        });
        return true;
      });
    },
  },
  {
    id: "races/wrap-claiming",
    title:
      "under wrapClaiming, a message that runs is parked elsewhere, a failure frees it, a success marks it",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const failure = new Error("the effect did not happen");
      const message = { meta: { id: "delivered-twice" } };
      const never = wrapClaiming(other, () => assert.fail("the handler must not run"), { leaseMs: 30_000 });
      let fail = true;
      const deliver = wrapClaiming(
        own,
        async () => {
          const [parked] = await rejection(() => never(message));
          const { code, retryAfterMs } = (parked ?? {}) as { code?: unknown; retryAfterMs?: unknown };
          assert.equal(code, "BQ_CLAIM_PARKED", "the code of a delivery while the handler runs elsewhere");
          assert.ok(Number(retryAfterMs) > 0, "a parked delivery is told when to come again");
          await expectSeenByAll([own, other], message.meta.id, false, "while the handler runs");
          if (fail) throw failure;
        },
        { leaseMs: 30_000 },
      );
      await assert.rejects(
        () => deliver(message),
        (error) => error === failure,
        "the handler's error passes through",
      );
      await expectSeenByAll([own, other], message.meta.id, false, "after the handler threw");
      fail = false;
      await deliver(message);
      await expectSeenByAll([own, other], message.meta.id, true, "after the handler succeeded");
      assert.equal(await never(message), undefined, "a redelivery after the success");
    },
  },
];
