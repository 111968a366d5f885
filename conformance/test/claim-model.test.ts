import { type Claim, type ClaimResult, InMemoryStore } from "@bq/idempotency-core";
import { describe, expect, it } from "vitest";
import { type Call, type State, stateTable } from "../src/cases/state-table.ts";

// Every order of what two or three workers can do to one id, up to a length, on a store whose clock the test moves. Each
// answer is held to the state table, and after each step the invariants are checked on what the workers were told.

const id = "the-only-id";
const halfLeaseMs = 50;
const leaseMs = 2 * halfLeaseMs;
/** A mark outlives a lease, and expires within the sequences. */
const ttlMs = 3 * halfLeaseMs;

type OwnCall = "claim" | "renew" | "commit" | "release" | "crash";

type Action =
  | { readonly call: OwnCall; readonly worker: number }
  | { readonly call: "remember"; readonly worker?: undefined }
  | { readonly call: "forget"; readonly worker?: undefined }
  | { readonly call: "half-lease"; readonly worker?: undefined };

function actionsOf(workers: number): Action[] {
  const own: readonly OwnCall[] = ["claim", "renew", "commit", "release", "crash"];
  const ofWorkers = Array.from({ length: workers }, (_, worker) => own.map((call) => ({ call, worker })));
  return [...ofWorkers.flat(), { call: "remember" }, { call: "forget" }, { call: "half-lease" }];
}

type StoreClass = new (options: { ttlMs: number; now: () => number }) => InMemoryStore;

/** What is so, by the state table alone: the states are moved by its cells, and by time. */
class Expectation {
  #mark: number | undefined;
  #holder: { worker: number; until: number } | undefined;

  stateFor(worker: number | undefined, now: number): State {
    if (this.#mark !== undefined) return this.#mark > now ? "marked" : "expired";
    if (this.#holder === undefined) return "absent";
    if (this.#holder.until <= now) return "lapsed";
    return this.#holder.worker === worker ? "ours" : "another's";
  }

  /** Moves to the state that the call leaves behind. */
  move(call: Call, worker: number | undefined, now: number): void {
    const [answer, after] = stateTable[this.stateFor(worker, now)][call];
    if (after === "marked" && call !== "seen" && call !== "claim" && call !== "renew" && call !== "release") {
      this.#mark = now + ttlMs;
      this.#holder = undefined;
    }
    if (after === "absent") this.#mark = this.#holder = undefined;
    if (answer === "claimed" || (call === "renew" && answer === true)) {
      this.#mark = undefined;
      this.#holder = { worker: worker ?? -1, until: now + leaseMs };
    }
  }
}

/** What the workers know from the answers alone, and what may never be so. */
class Invariants {
  /** Who was told that it holds the id, and until when it may believe that. */
  #belief: { worker: number; until: number } | undefined;
  #markedUntil = Number.NEGATIVE_INFINITY;

  /** One holder: nobody is given the id while another may believe that it holds it, or while it is marked. */
  claimed(worker: number, now: number): void {
    if (this.#belief && this.#belief.until > now) {
      throw new Violation(`one holder: ${worker} got the id while ${this.#belief.worker} held it`);
    }
    if (this.#markedUntil > now) throw new Violation("no lost mark: a processed id was claimed");
    this.#belief = { worker, until: now + leaseMs };
  }

  /** No drop of another's claim: whoever holds the id keeps it until its lease is over or it lets go. */
  renewed(worker: number, answer: boolean, now: number): void {
    const holds = this.#belief?.worker === worker && this.#belief.until > now;
    if (holds && !answer) throw new Violation(`no drop of another's claim: ${worker} lost its claim`);
    if (!holds && answer) throw new Violation(`one holder: ${worker} renewed what it did not hold`);
    if (holds) this.#belief = { worker, until: now + leaseMs };
  }

  letGo(worker: number | undefined): void {
    if (worker === undefined || this.#belief?.worker === worker) this.#belief = undefined;
  }

  marked(now: number): void {
    this.#belief = undefined;
    this.#markedUntil = now + ttlMs;
  }

  forgotten(): void {
    this.#belief = undefined;
    this.#markedUntil = Number.NEGATIVE_INFINITY;
  }

  /** No lost mark: what was marked is seen until it is forgotten or expires, and nothing else is. */
  check(seen: boolean, now: number): void {
    if (seen !== this.#markedUntil > now) {
      throw new Violation(
        `no lost mark: the id is ${seen ? "seen without a mark" : "not seen despite its mark"}`,
      );
    }
  }
}

class Violation extends Error {}

/** Plays the actions on a fresh store. `false`: an action was impossible, so the sequence is none. */
function play(Store: StoreClass, workers: number, actions: readonly Action[]): boolean {
  let now = 0;
  const store = new Store({ ttlMs, now: () => now });
  const expected = new Expectation();
  const invariants = new Invariants();
  const claims: (Claim | undefined)[] = Array.from({ length: workers });

  const hold = (call: Call, worker: number | undefined, answer: unknown) => {
    const state = expected.stateFor(worker, now);
    const [right] = stateTable[state][call];
    if (right !== undefined && answer !== right) {
      throw new Violation(`state table: ${call} on ${state} answered ${answer} instead of ${right}`);
    }
    expected.move(call, worker, now);
  };

  for (const action of actions) {
    if (action.call === "half-lease") now += halfLeaseMs;
    else if (action.call === "remember") {
      store.remember(id);
      hold("remember", undefined, undefined);
      invariants.marked(now);
    } else if (action.call === "forget") {
      store.forget(id);
      hold("forget", undefined, undefined);
      invariants.forgotten();
    } else if (action.call === "claim") {
      const result: ClaimResult = store.claim(id, leaseMs);
      hold("claim", action.worker, result.status);
      if (result.status === "claimed") {
        claims[action.worker] = result.claim;
        invariants.claimed(action.worker, now);
      }
    } else {
      const claim = claims[action.worker];
      if (!claim) return false;
      if (action.call === "crash") claims[action.worker] = undefined;
      else if (action.call === "renew") {
        const answer = store.renew(claim, leaseMs);
        hold("renew", action.worker, answer);
        invariants.renewed(action.worker, answer, now);
      } else if (action.call === "commit") {
        hold("commit", action.worker, store.commit(claim));
        invariants.marked(now);
      } else {
        hold("release", action.worker, store.release(claim));
        invariants.letGo(action.worker);
      }
    }
    const seen = store.seen(id);
    hold("seen", undefined, seen);
    invariants.check(seen, now);
  }
  return true;
}

/**
 * Plays every sequence of that length; answers how many there are, or throws with the one that failed. Workers differ in
 * nothing but their number, so they come in by their number: other sequences are these with the names changed.
 */
function playAll(Store: StoreClass, workers: number, length: number): number {
  const actions = actionsOf(workers);
  let count = 0;
  const extend = (sequence: Action[], known: number) => {
    if (sequence.length === length) {
      count++;
      return;
    }
    for (const action of actions) {
      const { worker } = action;
      if (worker !== undefined && worker > known) continue;
      sequence.push(action);
      // A sequence that is impossible, or wrong, is so with whatever comes after it.
      if (playOrTell(Store, workers, sequence)) extend(sequence, Math.max(known, (worker ?? -1) + 1));
      sequence.pop();
    }
  };
  extend([], 0);
  return count;
}

function playOrTell(Store: StoreClass, workers: number, sequence: readonly Action[]): boolean {
  try {
    return play(Store, workers, sequence);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const steps = sequence.map(
      (action) => `${action.call}${action.worker === undefined ? "" : ` ${action.worker}`}`,
    );
    throw new Violation(`${error.message}, after ${steps.join(", ")}`);
  }
}

describe("the claim protocol holds in every order", { timeout: 60_000 }, () => {
  it("of seven steps by two workers", () => {
    expect(playAll(InMemoryStore, 2, 7)).toBeGreaterThan(100_000);
  });

  it("of six steps by three workers", () => {
    expect(playAll(InMemoryStore, 3, 6)).toBeGreaterThan(50_000);
  });
});

describe("the check finds a store that", () => {
  /** A store that lets a method be made of others. */
  const broken: [string, StoreClass, RegExp][] = [
    [
      "releases without checking the token",
      class extends InMemoryStore {
        override release(claim: Claim): boolean {
          const ours = super.release(claim);
          if (!this.seen(id)) this.forget(id);
          return ours;
        }
      },
      /no drop of another's claim|state table/,
    ],
    [
      "revives a lapsed claim",
      class extends InMemoryStore {
        override renew(claim: Claim, ms: number): boolean {
          return super.renew(claim, ms) || super.claim(claim.id, ms).status === "claimed";
        }
      },
      /renew on (lapsed|absent) answered true/,
    ],
    [
      "does not mark what a late worker commits",
      class extends InMemoryStore {
        override commit(claim: Claim): boolean {
          return super.renew(claim, leaseMs) && super.commit(claim);
        }
      },
      /no lost mark|seen on marked/,
    ],
    [
      "claims a marked id",
      class extends InMemoryStore {
        override claim(claimed: string, ms: number): ClaimResult {
          super.forget(claimed);
          return super.claim(claimed, ms);
        }
      },
      /claim on (marked|ours|another's) answered claimed/,
    ],
    [
      "takes an id in flight for seen",
      class extends InMemoryStore {
        override seen(asked: string): boolean {
          const { status } = super.claim(asked, 1);
          return status !== "claimed";
        }
      },
      /seen/,
    ],
    [
      "keeps the claim when an id is forgotten",
      class extends InMemoryStore {
        override forget(forgotten: string): void {
          if (this.seen(forgotten)) super.forget(forgotten);
        }
      },
      /claim on absent answered in-flight/,
    ],
    [
      "does not start the lease anew",
      class extends InMemoryStore {
        override renew(claim: Claim): boolean {
          return super.renew(claim, halfLeaseMs);
        }
      },
      /claim on another's answered claimed|renew on ours answered false|claim on ours answered claimed/,
    ],
  ];

  it.for(broken)("%s", ([, Store, message]) => {
    expect(() => playAll(Store, 2, 5)).toThrow(message);
  });
});
