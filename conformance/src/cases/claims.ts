import assert from "node:assert/strict";
import { show } from "@bq/idempotency-core/backend";
import { type CaseDefinition, longLeaseMs, shortLeaseMs } from "./definition.ts";
import { expectError, expectInFlight, expectSeenByAll, take } from "./expect.ts";
import { stateTableCases } from "./state-table.ts";

/** None of this is a number of milliseconds for which a claim could hold. */
const badLeases: readonly unknown[] = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "30s", null, undefined];

const ownClaimCases: readonly CaseDefinition[] = [
  {
    id: "claims/tokens",
    title: "every claim has a token of its own, also a later claim on the same id",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const tokens: string[] = [];
      for (let round = 0; round < 5; round++) {
        for (const store of [own, other]) {
          const claim = await take(store, "claimed-often", longLeaseMs);
          tokens.push(claim.token, (await take(store, `claimed-once-${tokens.length}`, longLeaseMs)).token);
          assert.equal(await store.release(claim), true, "release of a claim that is ours");
        }
      }
      assert.equal(new Set(tokens).size, tokens.length, "number of different tokens");
      assert.ok(
        tokens.every((token) => token.length >= 8),
        `tokens that nobody guesses, got ${show(tokens[0])}`,
      );
    },
  },
  {
    id: "claims/made-up-token",
    title: "a token that the store never gave renews and releases nothing, and its commit answers false",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const claim = await take(own, "guessed", longLeaseMs);
      for (const token of [`${claim.token}x`, claim.token.slice(0, -1), "*", "%", "1", "null"]) {
        const madeUp = { id: claim.id, token };
        assert.equal(await other.renew(madeUp, longLeaseMs), false, `renew with the token ${show(token)}`);
        assert.equal(await other.release(madeUp), false, `release with the token ${show(token)}`);
      }
      await expectInFlight(other, claim.id, longLeaseMs, "after guesses at its token");
      assert.equal(await own.renew(claim, longLeaseMs), true, "renew by the holder");
      assert.equal(await other.commit({ id: claim.id, token: "1" }), false, "commit with a made-up token");
      await expectSeenByAll([own, other], claim.id, true, "after a commit with a made-up token");
    },
  },
  {
    id: "claims/token-of-another-id",
    title: "a token opens only the id that it was given for",
    needs: ["claims"],
    async body(bench) {
      const store = await bench.openClaiming();
      const [left, right] = [await take(store, "left", longLeaseMs), await take(store, "right", longLeaseMs)];
      const crossed = { id: left.id, token: right.token };
      assert.equal(await store.renew(crossed, longLeaseMs), false, "renew with the token of another id");
      assert.equal(await store.release(crossed), false, "release with the token of another id");
      assert.equal(await store.renew(left, longLeaseMs), true, "renew with the right token");
      assert.equal(await store.renew(right, longLeaseMs), true, "renew of the other id");
    },
  },
  {
    id: "claims/retry-after",
    title: "an in-flight answer says how long the lease has to go, at most the lease",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      for (const [index, leaseMs] of [5_000, longLeaseMs].entries()) {
        const id = `parked-${index}`;
        await bench.inTime(async () => {
          await own.forget(id);
          const claimedAt = bench.now();
          await take(own, id, leaseMs);
          const result = await other.claim(id, 1_000);
          if (bench.atMostSince(claimedAt) >= leaseMs / 2) return false;
          assert.equal(result.status, "in-flight", "a second claim");
          assert.ok(result.status === "in-flight");
          const { retryAfterMs } = result;
          assert.ok(
            retryAfterMs <= leaseMs && retryAfterMs >= leaseMs / 2 - 1,
            `retryAfterMs of a fresh lease of ${leaseMs} ms must be near to it, got ${show(retryAfterMs)}`,
          );
          return true;
        });
      }
    },
  },
  {
    id: "claims/lapses",
    title: "a claim lapses when its lease is over, however often others asked for the id",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const claim = await take(own, "abandoned", shortLeaseMs);
      await bench.eventually("the claim of 200 ms lapses and another worker gets the id", async () => {
        const { status } = await other.claim(claim.id, longLeaseMs);
        assert.notEqual(status, "processed", "an id whose worker died was not processed");
        return status === "claimed";
      });
      assert.equal(await own.renew(claim, longLeaseMs), false, "renew by the late worker");
    },
  },
  {
    id: "claims/renew-restarts",
    title: "a renewal lets the lease run anew from then on, also a longer or a shorter one",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      await bench.inTime(async (round) => {
        const startedAt = bench.now();
        const claim = await take(own, `longer-${round}`, 1_000);
        const renewed = await own.renew(claim, longLeaseMs);
        if (bench.atMostSince(startedAt) >= 900) return false;
        assert.equal(renewed, true, "renew within the lease");
        await bench.outlast(1_000);
        await expectInFlight(other, claim.id, longLeaseMs, "after the first lease, within the renewed one");
        return true;
      });
      const shortened = await take(own, "shorter", longLeaseMs);
      assert.equal(await own.renew(shortened, shortLeaseMs), true, "renew within the lease");
      await bench.outlast(shortLeaseMs);
      await take(other, shortened.id, longLeaseMs, "after the renewed, shorter lease");
    },
  },
  {
    id: "claims/each-lease",
    title: "each claim lapses by its own lease",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const long = await take(own, "long", longLeaseMs);
      const short = await take(own, "short", shortLeaseMs);
      await bench.outlast(shortLeaseMs);
      await take(other, short.id, longLeaseMs, "after its short lease");
      await expectInFlight(other, long.id, longLeaseMs, "after the short lease of another id");
    },
  },
  {
    id: "claims/closed-handle",
    title: "a claim outlives the handle that took it, and any handle can settle it",
    needs: ["claims"],
    async body(bench) {
      const first = await bench.openClaiming();
      const claim = await take(first, "handed-over", longLeaseMs);
      await bench.close(first);
      const second = await bench.openClaiming();
      await expectInFlight(second, claim.id, longLeaseMs, "after the handle of its claim was closed");
      assert.equal(await second.renew(claim, longLeaseMs), true, "renew on another handle");
      assert.equal(await second.commit(claim), true, "commit on another handle");
      await expectSeenByAll([second], claim.id, true, "after the commit");
    },
  },
  {
    id: "claims/bad-lease",
    title: "a lease that is no positive number of milliseconds is refused, and claims nothing",
    needs: ["claims"],
    async body(bench) {
      const store = await bench.openClaiming();
      const held = await take(store, "held", longLeaseMs);
      for (const leaseMs of badLeases as never[]) {
        const refusal = ["TypeError", "RangeError"];
        const what = `with a lease of ${show(leaseMs)}`;
        await expectError(refusal, () => store.claim("refused", leaseMs), `claim ${what}`);
        await expectError(refusal, () => store.renew(held, leaseMs), `renew ${what}`);
      }
      assert.equal(await store.renew(held, longLeaseMs), true, "renew after refused renewals");
      await take(store, "refused", longLeaseMs, "after claims with bad leases were refused");
    },
  },
];

/** The state table, cell by cell, and what lies between its lines. */
export const claimCases: readonly CaseDefinition[] = [...stateTableCases, ...ownClaimCases];
