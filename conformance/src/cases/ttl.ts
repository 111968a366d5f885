import assert from "node:assert/strict";
import { wrap } from "@bq/idempotency-core";
import { type CaseDefinition, longLeaseMs, shortTtlMs } from "./definition.ts";
import { expectInFlight, expectSeen, expectSeenByAll, take } from "./expect.ts";

/** A TTL long enough to look at a mark in the middle of its life, in milliseconds. */
const watchedTtlMs = 900;

export const ttlCases: readonly CaseDefinition[] = [
  {
    id: "ttl/lives",
    title: "a mark lives as long as its TTL",
    needs: ["ttl"],
    ttlMs: 600_000,
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("lives");
      // In real time only a unit that is read wrongly shows here: ten minutes as 600 milliseconds, or as ten.
      await bench.elapse(bench.subject.advance ? 590_000 : 700);
      await expectSeenByAll([own, other], "lives", true, "well before its TTL is over");
    },
  },
  {
    id: "ttl/expires",
    title: "a mark expires when its TTL is over, however often it was asked for",
    needs: ["ttl"],
    ttlMs: shortTtlMs,
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("expires");
      await bench.eventually(
        "the mark of 200 ms expires on the handle that wrote it",
        async () => !(await own.seen("expires")),
      );
      await bench.outlast(0);
      await expectSeenByAll([own, other], "expires", false, "after its TTL");
    },
  },
  {
    id: "ttl/again",
    title: "an id whose mark expired can be remembered and forgotten again",
    needs: ["ttl"],
    ttlMs: shortTtlMs,
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("again");
      await bench.outlast(shortTtlMs);
      await bench.inTime(async () => {
        const startedAt = bench.now();
        await other.remember("again");
        const seen = await own.seen("again");
        if (bench.atMostSince(startedAt) >= shortTtlMs * 0.9) return false;
        assert.equal(seen, true, "an expired mark that was written again is seen");
        return true;
      });
      await bench.outlast(shortTtlMs);
      await other.forget("again");
      await expectSeenByAll([own, other], "again", false, "after its second mark expired and was forgotten");
    },
  },
  {
    id: "ttl/restarts",
    title: "remembering a marked id starts its TTL anew",
    needs: ["ttl"],
    ttlMs: watchedTtlMs,
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await bench.inTime(async (round) => {
        const id = `restarts-${round}`;
        await own.remember(id);
        const firstWrittenBy = bench.now();
        await bench.elapse(watchedTtlMs / 2);
        const secondWrittenAfter = bench.now();
        await other.remember(id);
        await bench.outlast(watchedTtlMs, firstWrittenBy);
        const seen = await own.seen(id);
        if (bench.atMostSince(secondWrittenAfter) >= watchedTtlMs) return false;
        assert.equal(seen, true, "the mark is seen when the first TTL is over and the second is not");
        return true;
      });
    },
  },
  {
    id: "ttl/none",
    title: "without a TTL a mark does not expire",
    needs: ["ttl"],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("for-ever");
      await bench.elapse(bench.subject.advance ? 4_000_000_000 : 500);
      await expectSeenByAll([own, other], "for-ever", true, "after a long time");
    },
  },
  {
    id: "ttl/each",
    title: "each mark expires by its own age",
    needs: ["ttl"],
    ttlMs: watchedTtlMs,
    async body(bench) {
      const store = await bench.open();
      await bench.inTime(async (round) => {
        await store.remember(`older-${round}`);
        const olderWrittenBy = bench.now();
        await bench.elapse(watchedTtlMs / 2);
        const youngerWrittenAfter = bench.now();
        await store.remember(`younger-${round}`);
        await bench.outlast(watchedTtlMs, olderWrittenBy);
        await expectSeen(store, `older-${round}`, false, "after its TTL");
        const seen = await store.seen(`younger-${round}`);
        if (bench.atMostSince(youngerWrittenAfter) >= watchedTtlMs) return false;
        assert.equal(seen, true, "the younger mark outlives the older one");
        return true;
      });
    },
  },
  {
    id: "ttl/wrap",
    title: "under wrap, a redelivery after the TTL runs again",
    needs: ["ttl"],
    ttlMs: shortTtlMs,
    async body(bench) {
      let runs = 0;
      const count = () => ++runs;
      const first = wrap(await bench.open(), count);
      const second = wrap(await bench.open(), count);
      await first({ meta: { id: "much-later" } });
      await bench.outlast(shortTtlMs);
      await second({ meta: { id: "much-later" } });
      assert.equal(runs, 2, "runs of the handler");
    },
  },
  {
    id: "ttl/batch",
    title: "marks that were written in a batch expire when their TTL is over, and not before",
    needs: ["ttl", "batch"],
    ttlMs: watchedTtlMs,
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      await bench.inTime(async (round) => {
        const ids = [`first-${round}`, `second-${round}`];
        const startedAt = bench.now();
        await own.rememberMany(ids);
        await bench.elapse(watchedTtlMs / 4);
        const seen = await other.seenMany(ids);
        if (bench.atMostSince(startedAt) >= watchedTtlMs * 0.9) return false;
        assert.deepEqual(seen, [true, true], "seenMany before the TTL is over");
        await bench.outlast(watchedTtlMs);
        assert.deepEqual(await other.seenMany(ids), [false, false], "seenMany after the TTL");
        await expectSeen(own, ids[0] ?? "", false, "after the TTL of the batch");
        return true;
      });
    },
  },
  {
    id: "ttl/batch-restarts",
    title: "remembering marked ids in a batch starts their TTL anew",
    needs: ["ttl", "batch"],
    ttlMs: watchedTtlMs,
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      await bench.inTime(async (round) => {
        const ids = [`a-${round}`, `b-${round}`];
        await own.rememberMany(ids);
        const firstWrittenBy = bench.now();
        await bench.elapse(watchedTtlMs / 2);
        const secondWrittenAfter = bench.now();
        await other.rememberMany(ids);
        await bench.outlast(watchedTtlMs, firstWrittenBy);
        const seen = await own.seenMany(ids);
        if (bench.atMostSince(secondWrittenAfter) >= watchedTtlMs) return false;
        assert.deepEqual(seen, [true, true], "the marks when the first TTL is over and the second is not");
        return true;
      });
    },
  },
  {
    id: "ttl/commit",
    title: "the mark of a commit expires when its TTL is over, counted from the commit",
    needs: ["ttl", "claims"],
    ttlMs: watchedTtlMs,
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      await bench.inTime(async (round) => {
        const claim = await take(own, `long-work-${round}`, longLeaseMs);
        await bench.outlast(watchedTtlMs);
        const startedAt = bench.now();
        assert.equal(await own.commit(claim), true, "commit, long after the claim");
        await bench.elapse(watchedTtlMs / 4);
        const seen = await other.seen(claim.id);
        if (bench.atMostSince(startedAt) >= watchedTtlMs * 0.9) return false;
        assert.equal(seen, true, "the mark is seen after the commit");
        await bench.outlast(watchedTtlMs);
        await expectSeen(other, claim.id, false, "after the TTL, counted from the commit");
        return true;
      });
    },
  },
  {
    id: "ttl/lease",
    title: "a TTL shortens no lease",
    needs: ["ttl", "claims"],
    ttlMs: shortTtlMs,
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const claim = await take(own, "longer-than-the-ttl", longLeaseMs);
      await bench.outlast(shortTtlMs);
      await expectInFlight(other, claim.id, longLeaseMs, "after the TTL, within the lease");
      assert.equal(await own.renew(claim, longLeaseMs), true, "renew after the TTL, within the lease");
    },
  },
];
