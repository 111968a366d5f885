import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { type CaseDefinition, longLeaseMs } from "./definition.ts";
import { expectInFlight, expectProcessed, expectSeenByAll, take } from "./expect.ts";
import { claimAtOnce, eitherFirst, openHandles, rounds } from "./race-bench.ts";

/** Claims that meet another call on the same id. */
export const racingCallCases: readonly CaseDefinition[] = [
  {
    id: "races/remember",
    title: "a mark that is written while others claim the id is not lost",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 2);
      for (let round = 1; round <= rounds; round++) {
        const id = `marked-meanwhile-${round}`;
        const [results] = await eitherFirst(
          round,
          () => claimAtOnce(handles, id),
          () => handles[1].remember(id),
        );
        const winners = results.filter(({ status }) => status === "claimed");
        assert.ok(winners.length <= 1, "at most one claim wins");
        await expectSeenByAll(handles, id, true, "after it was remembered during claims");
        await expectProcessed(handles[0], id, longLeaseMs, "after it was remembered during claims");
      }
    },
  },
  {
    id: "races/forget",
    title: "a claim during a forget answers what is so before or after it",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 2);
      for (let round = 1; round <= rounds; round++) {
        const id = `forgotten-meanwhile-${round}`;
        await handles[0].remember(id);
        const [results] = await eitherFirst(
          round,
          () => claimAtOnce(handles, id),
          () => handles[1].forget(id),
        );
        const won = results.flatMap((result) => (result.status === "claimed" ? [result.claim] : []));
        assert.ok(won.length <= 1, `at most one claim wins, but ${won.length} did`);
        await expectSeenByAll(handles, id, false, "after it was forgotten during claims");
        // Nobody can win before the mark is gone, so the forget is over for whoever did.
        const [claim] = won;
        if (claim) assert.equal(await handles[0].renew(claim, longLeaseMs), true, "renew by the winner");
        else await take(handles[1], id, longLeaseMs, "after it was forgotten and nobody won");
      }
    },
  },
  {
    id: "races/commit",
    title: "nobody can claim an id between its claim and its mark",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      for (let round = 1; round <= rounds; round++) {
        const claim = await take(handles[0], `committed-meanwhile-${round}`, longLeaseMs);
        const [ours, results] = await Promise.all([handles[0].commit(claim), claimAtOnce(handles, claim.id)]);
        assert.equal(ours, true, "commit by the holder");
        const statuses = new Set(results.map(({ status }) => status));
        assert.ok(!statuses.has("claimed"), "a claim during a commit answers in-flight or processed");
        await expectSeenByAll(handles, claim.id, true, "after the commit");
      }
    },
  },
  {
    id: "races/settle-once",
    title: "of concurrent commits, or releases, of one claim exactly one answers true",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      for (let round = 1; round <= rounds; round++) {
        const kept = await take(handles[0], `committed-at-once-${round}`, longLeaseMs);
        const commits = await Promise.all(handles.map((store) => store.commit(kept)));
        assert.equal(commits.filter(Boolean).length, 1, "concurrent commits that answered true");
        await expectSeenByAll(handles, kept.id, true, "after concurrent commits");

        const dropped = await take(handles[0], `released-at-once-${round}`, longLeaseMs);
        const releases = await Promise.all(handles.map((store) => store.release(dropped)));
        assert.equal(releases.filter(Boolean).length, 1, "concurrent releases that answered true");
        await expectSeenByAll(handles, dropped.id, false, "after concurrent releases");
      }
    },
  },
  {
    id: "races/release",
    title: "a claim during a release is refused or wins alone",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      for (let round = 1; round <= rounds; round++) {
        const claim = await take(handles[0], `released-meanwhile-${round}`, longLeaseMs);
        const [ours, results] = await eitherFirst(
          round,
          () => handles[0].release(claim),
          () => claimAtOnce(handles, claim.id),
        );
        assert.equal(ours, true, "release by the holder");
        const winners = results.filter(({ status }) => status === "claimed");
        assert.ok(winners.length <= 1, "at most one claim wins");
        if (winners.length > 0)
          await expectInFlight(handles[0], claim.id, longLeaseMs, "while the next claim holds it");
        else await take(handles[0], claim.id, longLeaseMs, "after its claim was released");
      }
    },
  },
  {
    id: "races/lapse",
    title: "a renewal and another's claim at the moment of the lapse never both succeed",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = await openHandles(bench, 2);
      const leaseMs = 60;
      const race = async (round: number) => {
        const claim = await take(own, `lapsing-${round}`, leaseMs);
        // With a clock that can be moved, every round meets the lapse itself.
        if (bench.subject.advance) await bench.elapse(leaseMs);
        else await pause(leaseMs - 20 + round * 2);
        const [renewed, { status }] = await eitherFirst(
          round,
          () => own.renew(claim, longLeaseMs),
          () => other.claim(claim.id, longLeaseMs),
        );
        assert.ok(!(renewed && status === "claimed"), "both the holder and the next worker have the id");
        assert.equal(await own.renew(claim, longLeaseMs), renewed, "renew by the first holder, asked again");
        assert.equal(await own.seen(claim.id), false, "seen, though nobody committed");
      };
      const all = Array.from({ length: rounds }, (_, round) => round);
      if (bench.subject.advance) for (const round of all) await race(round);
      else await Promise.all(all.map(race));
    },
  },
];
