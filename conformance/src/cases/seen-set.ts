import assert from "node:assert/strict";
import { wrap } from "@bq/idempotency-core";
import { hasMethod, methodsOf } from "../bench.ts";
import type { CaseDefinition } from "./definition.ts";
import { expectSeen, expectSeenByAll } from "./expect.ts";

const manyIds: readonly string[] = Array.from({ length: 50 }, (_, index) => `at-once-${index}`);

export const seenSetCases: readonly CaseDefinition[] = [
  {
    id: "seen-set/methods",
    title: "the store has the methods of the seen-set and of every capability that the subject declares",
    needs: [],
    async body(bench) {
      const store = await bench.open();
      const { capabilities = [] } = bench.subject;
      const expected = ["seen", "remember", "forget"];
      for (const capability of capabilities)
        if (capability !== "ttl") expected.push(...methodsOf[capability]);
      const missing = expected.filter((method) => !hasMethod(store, method));
      assert.deepEqual(missing, [], "methods that the store lacks");
    },
  },
  {
    id: "seen-set/undeclared",
    title: "the store has no methods of a capability that the subject does not declare",
    needs: [],
    async body(bench) {
      const store = await bench.open();
      const { capabilities = [] } = bench.subject;
      for (const capability of ["batch", "claims", "transactions"] as const) {
        if (capabilities.includes(capability)) continue;
        const present = methodsOf[capability].filter((method) => hasMethod(store, method));
        // A guard would take such a store for a capable one, and nothing has tested that it is.
        assert.notDeepEqual(
          present,
          methodsOf[capability],
          `methods of ${JSON.stringify(capability)}: add it to the subject's capabilities`,
        );
      }
    },
  },
  {
    id: "seen-set/absent",
    title: "an id that was never remembered is not seen",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await expectSeenByAll([own, other], "never-remembered", false, "before anything was remembered");
      await own.remember("remembered");
      await expectSeenByAll([own, other], "never-remembered", false, "after another id was remembered");
    },
  },
  {
    id: "seen-set/remembered",
    title: "an id that one handle remembered is seen by every handle",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("order-1");
      await expectSeenByAll([own, other], "order-1", true, "after it was remembered");
      await other.remember("order-2");
      await expectSeenByAll([own, other], "order-2", true, "after the other handle remembered it");
    },
  },
  {
    id: "seen-set/asking",
    title: "asking whether an id is seen does not mark it",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      for (let round = 1; round <= 3; round++) {
        await expectSeenByAll([own, other], "only-asked", false, `in round ${round} of asking`);
      }
    },
  },
  {
    id: "seen-set/twice",
    title: "remembering an id a second time succeeds and keeps the mark",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("twice");
      await own.remember("twice");
      await other.remember("twice");
      await expectSeenByAll([own, other], "twice", true, "after it was remembered three times");
      await own.forget("twice");
      await expectSeenByAll([own, other], "twice", false, "after one forget");
    },
  },
  {
    id: "seen-set/forgotten",
    title: "an id that one handle forgot is seen by no handle",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("forgotten");
      await other.forget("forgotten");
      await expectSeenByAll([own, other], "forgotten", false, "after the other handle forgot it");
    },
  },
  {
    id: "seen-set/forget-absent",
    title: "forgetting an id that is not there is no error and changes nothing",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("bystander");
      await own.forget("never-remembered");
      await other.forget("never-remembered");
      await expectSeenByAll([own, other], "never-remembered", false, "after it was forgotten");
      await expectSeenByAll([own, other], "bystander", true, "after another id was forgotten");
    },
  },
  {
    id: "seen-set/again",
    title: "an id can be remembered again after it was forgotten",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      await own.remember("again");
      await own.forget("again");
      await own.remember("again");
      await expectSeenByAll([own, other], "again", true, "after remember, forget, remember");
    },
  },
  {
    id: "seen-set/reopened",
    title: "a mark outlives the handle that wrote it",
    needs: [],
    async body(bench) {
      const first = await bench.open();
      await first.remember("kept");
      await bench.close(first);
      const second = await bench.open();
      await expectSeen(second, "kept", true, "on a handle that was opened later");
      await expectSeen(second, "other", false, "on a handle that was opened later");
    },
  },
  {
    id: "seen-set/independent",
    title: "remembering and forgetting one id leaves every other id as it was",
    needs: [],
    async body(bench) {
      const store = await bench.open();
      for (const id of ["a", "b", "c"]) await store.remember(id);
      await store.forget("b");
      await expectSeen(store, "a", true, "after b was forgotten");
      await expectSeen(store, "b", false, "after it was forgotten");
      await expectSeen(store, "c", true, "after b was forgotten");
    },
  },
  {
    id: "seen-set/at-once",
    title: "ids that several handles remember at the same time are all seen",
    needs: [],
    async body(bench) {
      const handles = [await bench.open(), await bench.open(), await bench.open()];
      await Promise.all(
        manyIds.flatMap((id, index) => {
          const handle = handles[index % handles.length];
          return handle ? [handle.remember(id)] : [];
        }),
      );
      for (const store of handles) {
        for (const id of manyIds) await expectSeen(store, id, true, "after all were remembered at once");
      }
      await expectSeenByAll(handles, "at-once", false, "though it was never remembered");
    },
  },
  {
    id: "seen-set/neighbours",
    title: "a call that is refused for its id fails none of the calls beside it",
    needs: [],
    async body(bench) {
      const store = await bench.open();
      for (let round = 1; round <= 10; round++) {
        const ids = [1, 2, 3].map((index) => `beside-${round}-${index}`);
        const bad = Promise.allSettled([(async () => store.seen(""))(), (async () => store.remember(""))()]);
        await Promise.all(ids.map(async (id) => store.remember(id)));
        const alsoBad = Promise.allSettled([(async () => store.seen(""))()]);
        const seen = await Promise.all(ids.map(async (id) => store.seen(id)));
        assert.deepEqual(seen, [true, true, true], "answers beside calls that are refused");
        const refused = [...(await bad), ...(await alsoBad)].map(({ status }) => status);
        assert.deepEqual(refused, ["rejected", "rejected", "rejected"], "calls with an empty id");
      }
    },
  },
  {
    id: "seen-set/wrap-skips",
    title: "under wrap, a redelivery to another worker is skipped",
    needs: [],
    async body(bench) {
      const ran: string[] = [];
      const worker = (store: Awaited<ReturnType<typeof bench.open>>, name: string) =>
        wrap(store, (_message: { meta: { id: string } }) => {
          ran.push(name);
          return name;
        });
      const first = worker(await bench.open(), "first");
      const second = worker(await bench.open(), "second");
      const message = { meta: { id: "delivered-twice" } };
      assert.equal(await first(message), "first", "the first delivery");
      assert.equal(await second(message), undefined, "the redelivery");
      assert.deepEqual(ran, ["first"], "handlers that ran");
    },
  },
  {
    id: "seen-set/wrap-marks-last",
    title: "under wrap, an id is marked only after its handler succeeded",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      const failure = new Error("the effect did not happen");
      let fail = true;
      const deliver = wrap(own, async (_message: { meta: { id: string } }) => {
        await expectSeenByAll([own, other], "fails-first", false, "while the handler runs");
        if (fail) throw failure;
      });
      const message = { meta: { id: "fails-first" } };
      await assert.rejects(
        () => deliver(message),
        (error) => error === failure,
        "the handler's error passes through",
      );
      await expectSeenByAll([own, other], "fails-first", false, "after the handler threw");
      fail = false;
      await deliver(message);
      await expectSeenByAll([own, other], "fails-first", true, "after the handler succeeded");
    },
  },
];
