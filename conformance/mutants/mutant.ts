import type { Store } from "@bq/idempotency-core";
import { isThenable } from "@bq/idempotency-core/backend";
import type { Capability, Subject, TransactionHooks } from "../src/index.ts";
import { CorrectStore } from "./correct-store.ts";
import { Database, Transaction } from "./database.ts";

/** A store that breaks one rule, and the case that has to notice. */
export interface Mutant {
  /** What it does wrong, as the end of "a store that …". */
  readonly does: string;
  /** The ids of the cases that must fail. */
  readonly caughtBy: readonly string[];
  readonly subject: Subject;
}

type StoreClass = new (...args: ConstructorParameters<typeof CorrectStore>) => Store;

const everything: readonly Capability[] = ["ttl", "batch", "claims", "transactions"];

const hooksFor = (work: "sync" | "async"): TransactionHooks<Database, Transaction> => ({
  work,
  closesTx: true,
  write: (tx, effect) => tx.write(effect),
  written: (effect, { backend }) => backend.effects.has(effect),
  begin(run, { backend }) {
    const tx = new Transaction();
    const answer = run(tx);
    if (!isThenable(answer)) {
      backend.commit(tx);
      return answer;
    }
    return Promise.resolve(answer).then((value) => {
      backend.commit(tx);
      return value;
    });
  },
});

/** A subject over the database in memory, whose clock is moved instead of waited for. */
export function subjectOf(
  name: string,
  Store: StoreClass = CorrectStore,
  options: { work?: "sync" | "async"; capabilities?: readonly Capability[] } = {},
): Subject<Database, Transaction> {
  const { work = "async", capabilities = everything } = options;
  return {
    name,
    capabilities,
    provision: () => new Database(),
    open: ({ backend, ttlMs }) => new Store(backend, ttlMs, work),
    advance: (ms, { backend }) => {
      backend.nowMs += ms;
    },
    ...(capabilities.includes("transactions") ? { transactions: hooksFor(work) } : {}),
    deadlineMs: 20_000,
  };
}

export function mutant(
  does: string,
  caughtBy: string | readonly string[],
  Store: StoreClass,
  options?: Parameters<typeof subjectOf>[2],
): Mutant {
  return {
    does,
    caughtBy: typeof caughtBy === "string" ? [caughtBy] : caughtBy,
    subject: subjectOf(`a store that ${does}`, Store, options) as Subject,
  };
}
