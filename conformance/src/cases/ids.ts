import assert from "node:assert/strict";
import type { Store } from "@bq/idempotency-core";
import { quoteId, show } from "@bq/idempotency-core/backend";
import type { Bench } from "../bench.ts";
import { type CaseDefinition, longLeaseMs } from "./definition.ts";
import { expectError, take } from "./expect.ts";
import { idKinds } from "./id-kinds.ts";

/** Nothing of this identifies a message. */
const unusable: readonly unknown[] = ["", undefined, null, 0, 7, true, Symbol.iterator, {}, ["order-7"]];

/** Collects what fails for single ids, so that one run shows every kind at fault. */
class Findings {
  readonly #found: string[] = [];

  async check(id: string, kind: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#found.push(
        `an id with ${kind}, ${quoteId(id)}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  conclude(): void {
    assert.ok(
      this.#found.length === 0,
      `${this.#found.length} of ${idKinds.length} ids:\n${this.#found.join("\n")}`,
    );
  }
}

/** Remembers the ids one by one until the culprit is seen, to name the pair that became one. */
async function findTwin(store: Store, id: string, remembered: readonly string[]): Promise<string> {
  for (const other of idKinds) await store.forget(other.id);
  for (const other of remembered) {
    await store.remember(other);
    if (await store.seen(id)) return quoteId(other);
    await store.forget(other);
  }
  return "the others together";
}

async function eachUnusableIs(refused: (id: never) => [what: string, call: () => unknown][]): Promise<void> {
  for (const id of unusable) {
    for (const [what, call] of refused(id as never)) {
      await expectError(["TypeError"], call, `${what} with the id ${show(id)}`);
    }
  }
}

export const idCases: readonly CaseDefinition[] = [
  {
    id: "ids/round-trip",
    title: "every kind of id is remembered, seen and forgotten verbatim",
    needs: [],
    async body(bench) {
      const [own, other] = [await bench.open(), await bench.open()];
      const findings = new Findings();
      for (const { kind, id } of idKinds) {
        await findings.check(id, kind, async () => {
          assert.equal(await own.seen(id), false, "is seen before it was remembered");
          await own.remember(id);
          assert.equal(await other.seen(id), true, "is not seen after it was remembered");
          await other.forget(id);
          assert.equal(await own.seen(id), false, "is still seen after it was forgotten");
        });
      }
      findings.conclude();
    },
  },
  {
    id: "ids/distinct",
    title: "different ids never become one, and the same id never becomes two",
    needs: [],
    body: neverCollapse,
  },
  {
    id: "ids/batch",
    title: "every kind of id is remembered and seen in a batch beside others",
    needs: ["batch"],
    async body(bench) {
      const [own, other] = [await bench.openBatch(), await bench.openBatch()];
      const ids = idKinds.map(({ id }) => id);
      const even = ids.filter((_, index) => index % 2 === 0);
      await own.rememberMany(even);
      const answers = await other.seenMany(ids);
      const wrong = idKinds.filter((_, index) => answers[index] !== (index % 2 === 0));
      assert.deepEqual(
        wrong.map(({ kind }) => kind),
        [],
        "kinds of ids that a batch answered wrongly",
      );
      const findings = new Findings();
      for (const { kind, id } of idKinds) {
        await findings.check(id, kind, async () => {
          await own.rememberMany(["beside-1", id, "beside-2"]);
          assert.deepEqual(await other.seenMany(["beside-2", id, "absent"]), [true, true, false]);
          assert.equal(await other.seen(id), true, "is in a batch another id than alone");
        });
      }
      findings.conclude();
    },
  },
  {
    id: "ids/claims",
    title: "every kind of id can be claimed and committed, and a claim holds that id alone",
    needs: ["claims"],
    async body(bench) {
      const [own, other] = [await bench.openClaiming(), await bench.openClaiming()];
      const findings = new Findings();
      for (const { kind, id } of idKinds) {
        await findings.check(id, kind, async () => {
          const claim = await take(own, id, longLeaseMs, "while only other ids are held");
          assert.equal((await other.claim(id, longLeaseMs)).status, "in-flight", "a second claim");
          assert.equal(await other.renew(claim, longLeaseMs), true, "renew");
          assert.equal(await own.commit(claim), true, "commit");
          assert.equal(await other.seen(id), true, "seen after the commit");
        });
      }
      findings.conclude();
    },
  },
  {
    id: "ids/unusable",
    title:
      "seen, remember and forget throw TypeError for an id that is not a string of at least one character",
    needs: [],
    async body(bench) {
      const store = await bench.open();
      await eachUnusableIs((id) => [
        ["seen", () => store.seen(id)],
        ["remember", () => store.remember(id)],
        ["forget", () => store.forget(id)],
      ]);
    },
  },
  {
    id: "ids/unusable-batch",
    title:
      "one unusable id in a batch, or a string instead of one, throws TypeError, and nothing of it is remembered",
    needs: ["batch"],
    async body(bench) {
      const store = await bench.openBatch();
      await eachUnusableIs((id) => [
        ["seenMany", () => store.seenMany(["good-1", id, "good-2"])],
        ["rememberMany", () => store.rememberMany(["good-1", id, "good-2"])],
      ]);
      assert.deepEqual(await store.seenMany(["good-1", "good-2"]), [false, false]);

      // It would pass for a list of its characters.
      const text = "xyz" as unknown as string[];
      await expectError(["TypeError"], () => store.seenMany(text), "seenMany of a string");
      await expectError(["TypeError"], () => store.rememberMany(text), "rememberMany of a string");
      assert.deepEqual(await store.seenMany(["x", "y", "z", "xyz"]), [false, false, false, false]);
    },
  },
  {
    id: "ids/unusable-claims",
    title: "claim, renew, commit and release throw TypeError for an unusable id or a claim without a token",
    needs: ["claims"],
    async body(bench) {
      const store = await bench.openClaiming();
      await eachUnusableIs((id) => [
        ["claim", () => store.claim(id, longLeaseMs)],
        ["renew", () => store.renew({ id, token: "token" }, longLeaseMs)],
        ["commit", () => store.commit({ id, token: "token" })],
        ["release", () => store.release({ id, token: "token" })],
      ]);
      for (const token of ["", undefined, null, 7] as never[]) {
        const claim = { id: "no-token", token };
        const what = `of a claim with the token ${show(token)}`;
        await expectError(["TypeError"], () => store.renew(claim, longLeaseMs), `renew ${what}`);
        await expectError(["TypeError"], () => store.commit(claim), `commit ${what}`);
        await expectError(["TypeError"], () => store.release(claim), `release ${what}`);
      }
      assert.equal(await store.seen("no-token"), false, "nothing was marked");
    },
  },
];

/**
 * Goes through subsets of the ids in which every pair is parted twice, once each way. In every step the ids inside are seen
 * and those outside are not, so a pair that has become one is found, whether by remembering or by forgetting.
 */
async function neverCollapse(bench: Bench): Promise<void> {
  const [own, other] = [await bench.open(), await bench.open()];
  const ids = idKinds.map(({ id }) => id);
  const bits = Math.ceil(Math.log2(ids.length));
  let inside = new Set<string>();
  for (let step = 0; step < bits * 2; step++) {
    const next = new Set(ids.filter((_, index) => ((index >> (step >> 1)) & 1) === step % 2));
    for (const id of inside) if (!next.has(id)) await own.forget(id);
    for (const id of next) if (!inside.has(id)) await own.remember(id);
    inside = next;
    for (const { kind, id } of idKinds) {
      const seen: unknown = await other.seen(id);
      if (seen === inside.has(id)) continue;
      const rest = seen === true ? [...inside] : ids.filter((candidate) => candidate !== id);
      const twin = seen === true ? await findTwin(own, id, rest) : "another id that was forgotten";
      assert.fail(
        `an id with ${kind}, ${quoteId(id)}, is ${seen === true ? "" : "not "}seen: the store takes it for ${twin}`,
      );
    }
  }
}
