import type { Store } from "@bq/idempotency-core";
import { CorrectStore } from "./correct-store.ts";
import type { Transaction } from "./database.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** A store whose `within` differs. */
function within(
  does: string,
  caughtBy: string | readonly string[],
  change: (inside: Store, store: CorrectStore, tx: Transaction) => Partial<Store>,
): Mutant {
  return mutant(
    does,
    caughtBy,
    class extends CorrectStore {
      override within(tx: Transaction): Store {
        const inside = super.within(tx);
        return { ...inside, ...change(inside, this, tx) };
      }
    },
  );
}

export const withinMutants: readonly Mutant[] = [
  within(
    "does not remember within a transaction",
    ["transactions/within-commits", "transactions/within-sees"],
    () => ({ remember() {} }),
  ),
  within("remembers outside the transaction it was given", "transactions/within-rolls-back", (_, store) => ({
    remember: (id) => store.mark(id),
  })),
  within("sees no mark of its own transaction", "transactions/within-sees", (_, store) => ({
    seen: (id) => store.isMarked(id),
  })),
  within("sees within a transaction only its own marks", "transactions/within-sees", (_, store, tx) => ({
    seen: (id) => tx.entries.get(store.key(id)) !== undefined,
  })),
  within("forgets outside the transaction it was given", "transactions/within-forgets", (_, store) => ({
    forget: (id) => store.drop(id),
  })),
  within("does not forget within a transaction", "transactions/within-forgets", () => ({ forget() {} })),
  within("accepts unusable ids within a transaction", "transactions/within-unusable-id", () => ({
    seen: () => false,
  })),
  within("aborts the transaction over a duplicate mark", "transactions/within-duplicate", (inside) => ({
    remember(id) {
      if (inside.seen(id)) throw new Error("duplicate key; current transaction is aborted");
      return inside.remember(id);
    },
  })),
];
