import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { type Awaitable, type Claim, type ClaimingStore, wrapClaiming } from "@bq/idempotency-core";
import type { Bench } from "../bench.ts";
import { type CaseDefinition, longLeaseMs, shortLeaseMs, shortTtlMs } from "./definition.ts";
import { expectInFlight, expectProcessed, expectSeenByAll, take } from "./expect.ts";
import { lateWorkerCases } from "./late-workers.ts";

const rounds = 20;

type Handles = [ClaimingStore, ClaimingStore, ...ClaimingStore[]];

async function openHandles(bench: Bench, count: 2 | 4): Promise<Handles> {
  const handles: Handles = [await bench.openClaiming(), await bench.openClaiming()];
  while (handles.length < count) handles.push(await bench.openClaiming());
  return handles;
}

/** Claims one id twice on every handle at the same time. */
function claimAtOnce(handles: Handles, id: string) {
  return Promise.all([...handles, ...handles].map((store) => store.claim(id, longLeaseMs)));
}

/** Starts both at the same time, in odd rounds the second before the first. */
function eitherFirst<A, B>(
  round: number,
  first: () => Awaitable<A>,
  second: () => Awaitable<B>,
): Promise<[A, B]> {
  // Started inside an async function, so that what one of them throws leaves no promise of the other alone.
  const start = async <T>(call: () => Awaitable<T>) => call();
  if (round % 2 === 0) return Promise.all([start(first), start(second)]);
  const ahead = start(second);
  return Promise.all([start(first), ahead]);
}

/** Exactly one of the claims won, the others were told that the id is in flight, and the winner holds it. */
async function expectOneWinner(handles: Handles, id: string): Promise<Claim> {
  const results = await claimAtOnce(handles, id);
  const statuses = results.map(({ status }) => status).sort();
  const expected = ["claimed", ...results.slice(1).map(() => "in-flight")];
  assert.deepEqual(statuses, expected, `answers to ${results.length} concurrent claims of ${id}`);
  const winner = results.find((result) => result.status === "claimed");
  assert.ok(winner?.status === "claimed");
  assert.equal(
    await handles[0].renew(winner.claim, longLeaseMs),
    true,
    "renew by the winner, on the first handle",
  );
  return winner.claim;
}

const concurrentClaimCases: readonly CaseDefinition[] = [
  {
    id: "races/claim",
    title: "of concurrent claims of an absent id exactly one wins",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      for (let round = 1; round <= rounds; round++) {
        const claim = await expectOneWinner(handles, `contended-${round}`);
        assert.equal(await handles[1].commit(claim), true, "commit by the winner");
        const after = await claimAtOnce(handles, claim.id);
        assert.ok(
          after.every(({ status }) => status === "processed"),
          "every claim after the commit answers processed",
        );
      }
    },
  },
  {
    id: "races/claim-lapsed",
    title: "of concurrent claims of an id whose claim lapsed exactly one wins",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      const late: Claim[] = [];
      for (let round = 1; round <= rounds; round++) {
        late.push(await take(handles[0], `lapsed-${round}`, shortLeaseMs));
      }
      await bench.outlast(shortLeaseMs);
      for (const claim of late) {
        await expectOneWinner(handles, claim.id);
        assert.equal(await handles[0].renew(claim, longLeaseMs), false, "renew by the late worker");
      }
    },
  },
  {
    id: "races/claim-expired",
    title: "of concurrent claims of an id whose mark expired exactly one wins",
    needs: ["claims", "ttl"],
    ttlMs: shortTtlMs,
    async body(bench) {
      const handles = await openHandles(bench, 4);
      const ids = Array.from({ length: rounds }, (_, round) => `expired-${round}`);
      for (const id of ids) await handles[0].remember(id);
      await bench.outlast(shortTtlMs);
      for (const id of ids) await expectOneWinner(handles, id);
    },
  },
  {
    id: "races/many-ids",
    title: "concurrent claims of many ids, some of them twice, each get their own answer",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = await openHandles(bench, 2);
      const marked = Array.from({ length: 10 }, (_, index) => `marked-${index}`);
      const free = Array.from({ length: 30 }, (_, index) => `free-${index}`);
      for (const id of marked) await own.remember(id);
      const asked = free.flatMap((id, index) => [id, marked[index % marked.length] ?? id, id]);
      const results = await Promise.all(
        asked.map(async (id, index) => ({
          id,
          result: await (index % 2 ? own : other).claim(id, longLeaseMs),
        })),
      );
      const won = new Map<string, Claim>();
      for (const { id, result } of results) {
        if (id.startsWith("marked")) assert.equal(result.status, "processed", `claim of the marked ${id}`);
        else assert.notEqual(result.status, "processed", `claim of the unmarked ${id}`);
        if (result.status !== "claimed") continue;
        assert.equal(result.claim.id, id, "the claim carries the id that was claimed");
        assert.ok(!won.has(id), `${id} was claimed twice`);
        won.set(id, result.claim);
      }
      assert.equal(won.size, free.length, "number of free ids that were claimed");
      const commits = await Promise.all([...won.values()].map((claim) => other.commit(claim)));
      assert.ok(commits.every(Boolean), "every winner's commit answers true");
      for (const id of free) await expectSeenByAll([own, other], id, true, "after its commit");
    },
  },
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
  {
    id: "races/workers",
    title:
      "under wrapClaiming, workers that are handed the same messages at the same time run each exactly once",
    needs: ["claims"],
    async body(bench) {
      const handles = await openHandles(bench, 4);
      const runs = new Map<string, number>();
      const workers = handles.map((store) =>
        wrapClaiming(
          store,
          async ({ meta }: { meta: { id: string } }) => {
            await pause(1);
            runs.set(meta.id, (runs.get(meta.id) ?? 0) + 1);
          },
          { leaseMs: longLeaseMs },
        ),
      );
      const messages = Array.from({ length: rounds }, (_, index) => ({ meta: { id: `shared-${index}` } }));
      const deliveries = messages.flatMap((message) =>
        workers.map((deliver) => deliver(message).catch(expectParked)),
      );
      await Promise.all(deliveries);
      for (const { meta } of messages) {
        assert.equal(runs.get(meta.id), 1, `runs of ${meta.id}`);
        await expectSeenByAll(handles, meta.id, true, "after it ran");
      }
    },
  },
];

/** A delivery of an id that is in flight elsewhere is to be parked, and to fail in no other way. */
function expectParked(error: unknown): void {
  const { code } = error as { code?: unknown };
  if (code !== "BQ_CLAIM_PARKED") throw error;
}

/** What goes on at the same time, and what comes too late. */
export const raceCases: readonly CaseDefinition[] = [...concurrentClaimCases, ...lateWorkerCases];
