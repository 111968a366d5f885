import assert from "node:assert/strict";
import { type Awaitable, wrapBatch } from "@bq/idempotency-core";
import { type CaseDefinition, longLeaseMs } from "./definition.ts";
import { expectProcessed, expectSeen, take } from "./expect.ts";

/** Asks for all ids at once; the answer must be an array of booleans and nothing that resembles one. */
async function expectSeenMany(
  store: { seenMany(ids: readonly string[]): Awaitable<boolean[]> },
  ids: readonly string[],
  expected: readonly boolean[],
  when: string,
): Promise<void> {
  const answers: unknown = await store.seenMany(ids);
  assert.ok(Array.isArray(answers), "seenMany answers with an array");
  assert.deepEqual([...answers], expected, `seenMany ${when}`);
}

export const batchCases: readonly CaseDefinition[] = [
  {
    id: "batch/order",
    title: "seenMany answers in the order of the ids",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      for (const id of ["d", "e"]) await own.remember(id);
      // Neither sorting nor reversing these leaves the answer as it is.
      const ids = ["e", "c", "a", "d", "b"];
      const expected = [true, false, false, true, false];
      await expectSeenMany(own, ids, expected, "of ids that are not sorted");
      await expectSeenMany(other, ids, expected, "of ids that are not sorted, on the other handle");
      await expectSeenMany(other, [...ids].reverse(), [...expected].reverse(), "of the same ids reversed");
    },
  },
  {
    id: "batch/repeated",
    title: "an id may be repeated in a batch, and each place is answered",
    needs: ["batch"],
    async body(bench) {
      const store = await bench.openBatch();
      await store.rememberMany(["twice", "once", "twice"]);
      await expectSeenMany(
        store,
        ["twice", "absent", "twice", "once", "absent"],
        [true, false, true, true, false],
        "of repeated ids",
      );
    },
  },
  {
    id: "batch/empty",
    title: "an empty batch is answered with an empty one and remembers nothing",
    needs: ["batch"],
    async body(bench) {
      const store = await bench.openBatch();
      await store.rememberMany([]);
      await expectSeenMany(store, [], [], "of no ids");
      await expectSeen(store, "absent", false, "after an empty batch was remembered");
    },
  },
  {
    id: "batch/single",
    title: "ids of a batch and single ids are the same ids",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      await own.rememberMany(["one", "two", "three"]);
      await expectSeen(other, "one", true, "after it was remembered in a batch");
      await expectSeen(other, "three", true, "after it was remembered in a batch");
      await other.forget("two");
      await own.remember("four");
      await expectSeenMany(
        own,
        ["one", "two", "three", "four"],
        [true, false, true, true],
        "after single calls",
      );
    },
  },
  {
    id: "batch/again",
    title: "remembering ids of which some are marked already succeeds for all of them",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      await own.rememberMany(["old-1", "old-2"]);
      await other.rememberMany(["new-1", "old-2", "new-2", "old-1"]);
      await expectSeenMany(own, ["old-1", "new-1", "old-2", "new-2"], [true, true, true, true], "after both");
    },
  },
  {
    id: "batch/asking",
    title: "asking for many ids marks none of them",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      await expectSeenMany(own, ["a", "b"], [false, false], "at first");
      await expectSeenMany(own, ["a", "b"], [false, false], "when asked again");
      await expectSeenMany(other, ["b", "a"], [false, false], "when asked by the other handle");
    },
  },
  {
    id: "batch/large",
    title: "a batch of 2 500 ids is answered whole",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      const ids = Array.from({ length: 2_500 }, (_, index) => `large-${index}`);
      const marked = ids.map((_, index) => index % 3 === 0);
      await own.rememberMany(ids.filter((_, index) => marked[index]));
      const answers = await other.seenMany(ids);
      assert.equal(answers.length, ids.length, "length of the answer");
      const wrong = ids.filter((_, index) => answers[index] !== marked[index]);
      assert.equal(wrong.length, 0, `wrong answers, the first for ${wrong[0]}`);
    },
  },
  {
    id: "batch/caller-array",
    title: "a batch leaves the caller's array as it is",
    needs: ["batch"],
    async body(bench) {
      const store = await bench.openBatch();
      const ids = ["c", "a", "b", "a"];
      await store.rememberMany(ids);
      await store.seenMany(ids);
      assert.deepEqual(ids, ["c", "a", "b", "a"], "the array after rememberMany and seenMany");
      const frozen = Object.freeze(["c", "a", "b"]);
      await store.rememberMany(frozen);
      await expectSeenMany(store, frozen, [true, true, true], "of a frozen array");
    },
  },
  {
    id: "batch/opposite-orders",
    title: "handles that remember the same ids in opposite orders at the same time all succeed",
    needs: ["batch"],
    async body(bench) {
      const handles = [await bench.openBatch(), await bench.openBatch()];
      const ids = Array.from({ length: 60 }, (_, index) => `shared-${index}`);
      const reversed = [...ids].reverse();
      for (let round = 0; round < 10; round++) {
        await Promise.all(
          handles.flatMap((store) => [store.rememberMany(ids), store.rememberMany(reversed)]),
        );
      }
      for (const store of handles) {
        await expectSeenMany(
          store,
          ids,
          ids.map(() => true),
          "after all batches",
        );
      }
    },
  },
  {
    id: "batch/claimed",
    title: "seenMany takes no claim for a mark, and rememberMany marks an id from any state",
    needs: ["batch", "claims"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      const [ownClaims, otherClaims] = [await bench.openClaiming(), await bench.openClaiming()];
      const claim = await take(ownClaims, "held", longLeaseMs);
      await expectSeenMany(other, ["absent", "held"], [false, false], "while an id is in flight");
      await own.rememberMany(["absent", "held"]);
      await expectSeenMany(other, ["absent", "held"], [true, true], "after both were remembered");
      await expectProcessed(otherClaims, "held", longLeaseMs, "after it was remembered in a batch");
      assert.equal(await ownClaims.renew(claim, longLeaseMs), false, "renew after the id was marked");
    },
  },
  {
    id: "batch/wrap",
    title:
      "under wrapBatch, 100 messages with duplicates and failures end as if they had come one after another",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      const earlier = Array.from({ length: 30 }, (_, index) => `m-${index}`);
      await other.rememberMany(earlier);
      // 30 were processed before, 60 are new, and 10 of the new ones come twice; 5 of those that come once fail.
      const ids = Array.from({ length: 90 }, (_, index) => `m-${index}`);
      const messages = [...ids, ...ids.slice(40, 50)].map((id) => ({ meta: { id } }));
      const failing = new Set(["m-60", "m-61", "m-70", "m-80", "m-89"]);
      const deliver = wrapBatch(own, ({ meta }: { meta: { id: string } }) => {
        if (failing.has(meta.id)) throw new Error(meta.id);
        return meta.id;
      });
      const results = await deliver(messages);
      const expected = messages.map(({ meta }, index) => {
        if (failing.has(meta.id)) return "failed";
        return index < 30 || index >= 90 ? "skipped" : "ran";
      });
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        expected,
        "outcomes, in the order of the messages",
      );
      await expectSeenMany(
        other,
        ids,
        ids.map((id) => !failing.has(id)),
        "of all ids after the batch",
      );
    },
  },
];
