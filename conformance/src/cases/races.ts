import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { type Claim, wrapClaiming } from "@bq/idempotency-core";
import { type CaseDefinition, longLeaseMs, shortLeaseMs, shortTtlMs } from "./definition.ts";
import { expectSeenByAll, take } from "./expect.ts";
import { lateWorkerCases } from "./late-workers.ts";
import { claimAtOnce, type Handles, openHandles, rounds } from "./race-bench.ts";
import { racingCallCases } from "./racing-calls.ts";

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

const claimRaceCases: readonly CaseDefinition[] = [
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
    id: "races/neighbours",
    title: "a claim that is refused for its id or its lease fails none of the calls beside it",
    needs: ["claims"],
    async body(bench) {
      const [own] = await openHandles(bench, 2);
      for (let round = 1; round <= rounds; round++) {
        const bad = Promise.allSettled([
          (async () => own.claim("" as string, longLeaseMs))(),
          (async () => own.claim(`bad-lease-${round}`, 0))(),
        ]);
        const good = await Promise.all(
          [1, 2, 3].map(async (index) => own.claim(`beside-${round}-${index}`, longLeaseMs)),
        );
        assert.deepEqual(
          good.map(({ status }) => status),
          ["claimed", "claimed", "claimed"],
          "claims beside those that are refused",
        );
        assert.deepEqual(
          (await bad).map(({ status }) => status),
          ["rejected", "rejected"],
          "claims with a bad id and with a bad lease",
        );
      }
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
export const raceCases: readonly CaseDefinition[] = [
  ...claimRaceCases,
  ...racingCallCases,
  ...lateWorkerCases,
];
