import fc from "fast-check";
import type { Step } from "./model.ts";

/** One call on some of these ids, by one of so many workers; claims are told by their place among all that were got. */
export function steps(ids: readonly string[], workers: number): fc.Arbitrary<Step> {
  const id = fc.constantFrom(...ids);
  const someIds = fc.array(id, { maxLength: 5 });
  const worker = fc.nat({ max: workers - 1 });
  return fc.oneof(
    fc.record({
      call: fc.constantFrom("seen" as const, "remember" as const, "forget" as const),
      id,
      worker,
    }),
    fc.record({ call: fc.constantFrom("seenMany" as const, "rememberMany" as const), ids: someIds, worker }),
    fc.record({ call: fc.constant("claim" as const), id, worker }),
    fc.record({
      call: fc.constantFrom("renew" as const, "commit" as const, "release" as const),
      claim: fc.nat({ max: 7 }),
      worker,
    }),
    fc.record({ call: fc.constant("transact" as const), id, fails: fc.boolean(), worker }),
    fc.record({ call: fc.constant("lapse" as const), id, worker }),
    fc.record({ call: fc.constant("expire" as const), id, worker }),
  );
}
