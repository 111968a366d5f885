import assert from "node:assert/strict";
import type { Claim, ClaimingStore } from "@bq/idempotency-core";
import type { Bench } from "../bench.ts";
import { type CaseDefinition, longLeaseMs, shortLeaseMs, shortTtlMs } from "./definition.ts";
import { expectInFlight, expectProcessed, expectSeenByAll, take } from "./expect.ts";

/** A TTL that runs out while the case waits, and leaves time to look at the mark, in milliseconds. */
const observableTtlMs = 500;

/** The states in which a call can find an id. */
export type State = "absent" | "lapsed" | "expired" | "ours" | "another's" | "marked";

/** The calls; `renew`, `commit` and `release` are made with our own claim. */
export type Call = "seen" | "claim" | "renew" | "commit" | "release" | "remember" | "forget";

type After = "absent" | "claimed anew" | "still held" | "marked";
type Cell = readonly [answer: boolean | string | undefined, after: After];

const fromNothing: Readonly<Record<Call, Cell>> = {
  seen: [false, "absent"],
  claim: ["claimed", "claimed anew"],
  renew: [false, "absent"],
  commit: [false, "marked"],
  release: [false, "absent"],
  remember: [undefined, "marked"],
  forget: [undefined, "absent"],
};

/** The whole contract of one id: what each call answers in each state, and what it leaves behind. */
export const stateTable: Readonly<Record<State, Readonly<Record<Call, Cell>>>> = {
  absent: fromNothing,
  lapsed: fromNothing,
  expired: fromNothing,
  ours: {
    seen: [false, "still held"],
    claim: ["in-flight", "still held"],
    renew: [true, "still held"],
    commit: [true, "marked"],
    release: [true, "absent"],
    remember: [undefined, "marked"],
    forget: [undefined, "absent"],
  },
  "another's": {
    seen: [false, "still held"],
    claim: ["in-flight", "still held"],
    renew: [false, "still held"],
    commit: [false, "marked"],
    release: [false, "still held"],
    remember: [undefined, "marked"],
    forget: [undefined, "absent"],
  },
  marked: {
    seen: [true, "marked"],
    claim: ["processed", "marked"],
    renew: [false, "marked"],
    commit: [false, "marked"],
    release: [false, "marked"],
    remember: [undefined, "marked"],
    forget: [undefined, "absent"],
  },
};

const stateInWords: Readonly<Record<State, string>> = {
  absent: "an absent id",
  lapsed: "an id whose claim lapsed",
  expired: "an id whose mark expired",
  ours: "an id that we hold",
  "another's": "an id that another holds",
  marked: "a marked id",
};

const afterInWords: Readonly<Record<After, string>> = {
  absent: "leaves it absent",
  "claimed anew": "leaves it held by the new claim",
  "still held": "leaves it held as before",
  marked: "leaves it marked",
};

/** An id in a state: our own claim on it, which may be worth nothing any more, and the claim that holds it, if one does. */
interface Scene {
  readonly id: string;
  readonly own: Claim;
  readonly holder?: Claim;
}

/** Brings a fresh id into the state. Our claim is always taken on the first handle. */
async function bringInto(
  state: State,
  bench: Bench,
  first: ClaimingStore,
  second: ClaimingStore,
  id: string,
): Promise<Scene> {
  const own = await take(first, id, state === "lapsed" ? shortLeaseMs : longLeaseMs);
  switch (state) {
    case "absent":
      assert.equal(await first.release(own), true, "release of a claim that is ours");
      return { id, own };
    case "lapsed":
      await bench.outlast(shortLeaseMs);
      return { id, own };
    case "expired":
      assert.equal(await first.commit(own), true, "commit of a claim that is ours");
      await bench.outlast(bench.context.ttlMs ?? 0);
      return { id, own };
    case "ours":
      return { id, own, holder: own };
    case "another's":
      await second.forget(id);
      return { id, own, holder: await take(second, id, longLeaseMs, "after the first claim was dropped") };
    case "marked":
      assert.equal(await first.commit(own), true, "commit of a claim that is ours");
      return { id, own };
  }
}

async function make(call: Call, store: ClaimingStore, { id, own }: Scene): Promise<unknown> {
  if (call === "seen") return store.seen(id);
  if (call === "claim") return store.claim(id, longLeaseMs);
  if (call === "renew") return store.renew(own, longLeaseMs);
  if (call === "commit") return store.commit(own);
  if (call === "release") return store.release(own);
  if (call === "remember") return store.remember(id);
  return store.forget(id);
}

async function expectState(
  after: After,
  stores: readonly [ClaimingStore, ClaimingStore],
  id: string,
  holder: Claim | undefined,
  when: string,
): Promise<void> {
  await expectSeenByAll(stores, id, after === "marked", when);
  if (after === "absent") {
    await take(stores[1], id, longLeaseMs, when);
    return;
  }
  for (const store of stores) {
    if (after === "marked") await expectProcessed(store, id, longLeaseMs, when);
    else await expectInFlight(store, id, longLeaseMs, when);
  }
  if (after !== "marked") {
    assert.ok(holder, "a held id has a holder");
    assert.equal(await stores[0].renew(holder, longLeaseMs), true, `renew by the holder ${when}`);
  }
}

function cellCase(state: State, call: Call): CaseDefinition {
  const [answer, after] = stateTable[state][call];
  const withOwn = call === "renew" || call === "commit" || call === "release";
  const answers = answer === undefined ? "" : `answers ${answer} and `;
  return {
    id: `claims/${state.replace("'", "")}-${call}`,
    title: `${call}${withOwn ? " with our claim" : ""} on ${stateInWords[state]} ${answers}${afterInWords[after]}`,
    needs: state === "expired" ? ["claims", "ttl"] : ["claims"],
    // A TTL only where it plays a part: elsewhere a mark has to outlive the case.
    ...(state === "expired" ? { ttlMs: after === "marked" ? observableTtlMs : shortTtlMs } : {}),
    body: (bench) => judgeCell(bench, state, call),
  };
}

/** Makes the call once on the handle of our claim and once on another, for what counts is the token and not the handle. */
async function judgeCell(bench: Bench, state: State, call: Call): Promise<void> {
  const [answer, after] = stateTable[state][call];
  const first = await bench.openClaiming();
  const second = await bench.openClaiming();
  const judgeCaller = (caller: "first" | "second") =>
    bench.inTime(async (round) => {
      const scene = await bringInto(state, bench, first, second, `${state}-${call}-${caller}-${round}`);
      const when = `after ${call} by the ${caller} handle on ${stateInWords[state]}`;
      const calledAt = bench.now();
      const given = await make(call, caller === "first" ? first : second, scene);
      const result = call === "claim" ? (given as { status?: unknown } | undefined)?.status : given;
      if (answer !== undefined) assert.equal(result, answer, `answer of ${call} on ${stateInWords[state]}`);
      const holder = result === "claimed" ? (given as { claim: Claim }).claim : scene.holder;
      // A mark with a TTL can be judged only while it lives.
      const { ttlMs = Number.POSITIVE_INFINITY } = bench.context;
      try {
        await expectState(after, [first, second], scene.id, holder, when);
      } catch (error) {
        if (after === "marked" && bench.atMostSince(calledAt) >= ttlMs * 0.9) return false;
        throw error;
      }
      return true;
    });
  // With a clock that can be moved, one would move it under the other.
  if (bench.subject.advance) for (const caller of ["first", "second"] as const) await judgeCaller(caller);
  else await Promise.all([judgeCaller("first"), judgeCaller("second")]);
}

const calls = Object.keys(fromNothing) as Call[];

/** One case for every cell of the table. */
export const stateTableCases: readonly CaseDefinition[] = (Object.keys(stateTable) as State[]).flatMap(
  (state) => calls.map((call) => cellCase(state, call)),
);
