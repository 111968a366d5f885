import type { Claim } from "@bq/idempotency-core";
import { InMemoryStore } from "@bq/idempotency-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CorrectStore } from "../mutants/correct-store.ts";
import { subjectOf } from "../mutants/mutant.ts";
import { type Operation, runOperations, type Subject } from "../src/index.ts";

// Few ids, so that the calls meet, and among them such as are easily taken for one another.
const ids = ["a", "A", "a ", "b", "__proto__", "\ud800", "sha256:a"];
const id = fc.constantFrom(...ids);
const handle = fc.nat(2);
const back = fc.nat(3);
// Few lengths of time, so that an end is often met to the millisecond.
const leaseMs = fc.constantFrom(1, 10, 20, 50);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ call: fc.constantFrom("seen", "remember", "forget"), handle, id }),
  fc.record({
    call: fc.constantFrom("seenMany", "rememberMany"),
    handle,
    ids: fc.array(id, { maxLength: 5 }),
  }),
  { weight: 3, arbitrary: fc.record({ call: fc.constant("claim"), handle, id, leaseMs }) },
  fc.record({ call: fc.constant("renew"), handle, back, leaseMs }),
  { weight: 2, arbitrary: fc.record({ call: fc.constantFrom("commit", "release"), handle, back }) },
  fc.record({ call: fc.constant("elapse"), ms: fc.constantFrom(1, 9, 10, 20, 50) }),
);

const operations = fc.array(operation, { maxLength: 60 });
const ttlMs = fc.constantFrom(undefined, 1, 10, 30, 1_000);

const inMemory: Subject<{ clock: { nowMs: number }; store: InMemoryStore }> = {
  name: "InMemoryStore",
  capabilities: ["ttl", "batch", "claims"],
  provision({ ttlMs }) {
    const clock = { nowMs: 0 };
    return { clock, store: new InMemoryStore({ ttlMs, now: () => clock.nowMs }) };
  },
  open: ({ backend }) => backend.store,
  advance: (ms, { backend }) => {
    backend.clock.nowMs += ms;
  },
};

describe("any sequence of calls from several handles is answered as the plain model answers it", () => {
  it("by InMemoryStore", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(operations, ttlMs, (all, ttl) => runOperations(inMemory, all, { ttlMs: ttl })),
      { numRuns: 2_000 },
    );
  });

  it("but not by a store that commits only what it still holds", async () => {
    class LosesLateCommits extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        return this.ask(() => {
          const ours = this.owns(claim);
          if (ours) this.mark(claim.id);
          return ours;
        });
      }
    }
    const subject = subjectOf("loses late commits", LosesLateCommits);
    const result = await fc.check(
      fc.asyncProperty(operations, (all) => runOperations(subject, all)),
      // About one sequence in 170 shows it: not to find any in so many is out of the question.
      { numRuns: 20_000, endOnFailure: true },
    );
    expect(result.failed).toBe(true);
  });
});

describe("runOperations", () => {
  it("names the operation whose answer differs", async () => {
    class ForgetsToForget extends CorrectStore {
      override drop(): void {}
    }
    const failure = runOperations(subjectOf("forgets to forget", ForgetsToForget), [
      { call: "remember", handle: 0, id: "a" },
      { call: "forget", handle: 1, id: "a" },
      { call: "seen", handle: 2, id: "a" },
    ]);
    await expect(failure).rejects.toThrow('operation 3 of 3, {"call":"seen","handle":2,"id":"a"}');
  });

  it("refuses to let time pass where it cannot", async () => {
    const { advance: _, ...subject } = inMemory;
    await expect(runOperations(subject, [{ call: "elapse", ms: 1 }])).rejects.toThrow(
      "needs a subject with advance()",
    );
  });
});
