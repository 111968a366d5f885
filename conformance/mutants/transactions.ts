import type { Awaitable, TransactResult } from "@bq/idempotency-core";
import { isThenable } from "@bq/idempotency-core/backend";
import { CorrectStore } from "./correct-store.ts";
import { Transaction } from "./database.ts";
import { type Mutant, mutant } from "./mutant.ts";

type Work<R> = (tx: Transaction) => Awaitable<R>;

/** Writes the mark at the beginning and outside the transaction, and takes it back when the work throws. */
class MarksOutside extends CorrectStore {
  override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
    if (id !== undefined) this.mark(id);
    try {
      return await super.runTransaction(id, work);
    } catch (error) {
      if (id !== undefined) this.drop(id);
      throw error;
    }
  }
}

export const transactionMutants: readonly Mutant[] = [
  mutant(
    "drops the value of the work",
    ["transactions/ran", "transactions/wrap"],
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return { ...(await super.runTransaction(id, work)), value: undefined as R } as TransactResult<R>;
      }
    },
  ),
  mutant(
    "does not mark what a transaction did",
    ["transactions/ran", "transactions/at-once"],
    class extends CorrectStore {
      override async runTransaction<R>(_id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.runTransaction(undefined, work);
      }
    },
  ),
  mutant(
    "runs a duplicate in a transaction",
    "transactions/duplicate",
    class extends CorrectStore {
      override refusal(): undefined {}
    },
  ),
  mutant(
    "leaves the mark outside the transaction when the work throws",
    ["transactions/throws", "transactions/wrap"],
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        if (id !== undefined) this.mark(id);
        return super.runTransaction(id, work);
      }
    },
  ),
  mutant(
    "keeps the effect when the work throws",
    "transactions/throws",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.runTransaction(id, (tx) => {
          const write = tx.write.bind(tx);
          tx.write = (effect) => {
            write(effect);
            this.database.effects.add(effect);
          };
          return work(tx);
        });
      }
    },
  ),
  mutant(
    "wraps what the work throws",
    "transactions/throws",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.runTransaction(id, work).catch((cause: unknown) => {
          throw new Error("transact failed", { cause });
        });
      }
    },
  ),
  mutant(
    "remembers apart from its marks what it ran in transactions",
    "transactions/forgotten",
    class extends CorrectStore {
      override drop(id: string): void {
        const key = this.key(id);
        if (!this.database.effects.has(`ran ${key}`)) super.drop(id);
        else this.database.entries.delete(key);
      }
      override refusal(id: string): TransactResult<never> | undefined {
        return this.database.effects.has(`ran ${this.key(id)}`) ? { status: "processed" } : super.refusal(id);
      }
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        const result = await super.runTransaction(id, work);
        if (id !== undefined) this.database.effects.add(`ran ${this.key(id)}`);
        return result;
      }
    },
  ),
  mutant(
    "marks undefined as an id",
    "transactions/no-id",
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.transact(id === undefined ? "undefined" : id, work);
      }
    },
  ),
  mutant(
    "runs without a transaction when there is no id",
    "transactions/no-id",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        if (id !== undefined) return super.runTransaction(id, work);
        const tx = new Transaction();
        tx.write = (effect) => void this.database.effects.add(effect);
        return { status: "ran", value: await work(tx) };
      }
    },
  ),
  mutant(
    "takes an unusable id for none",
    "transactions/unusable-id",
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.transact(id || undefined, work);
      }
    },
  ),
  mutant(
    "trims ids in transactions alone",
    "transactions/ids",
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.transact(id?.trim() || id, work);
      }
    },
  ),
  mutant(
    "gives the marks of transactions no TTL",
    "transactions/ttl",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        const result = await super.runTransaction(id, work);
        if (id !== undefined) this.database.entries.set(this.key(id), { until: Number.POSITIVE_INFINITY });
        return result;
      }
    },
  ),
  mutant(
    "takes no notice of claims in a transaction",
    "transactions/claimed",
    class extends CorrectStore {
      override refusal(id: string): TransactResult<never> | undefined {
        return this.isMarked(id) ? { status: "processed" } : undefined;
      }
    },
  ),
  mutant(
    "lets a lapsed claim keep a transaction out",
    "transactions/lapsed",
    class extends CorrectStore {
      override refusal(id: string): TransactResult<never> | undefined {
        const claimed = this.database.entries.get(this.key(id))?.token !== undefined;
        return claimed ? { status: "in-flight", retryAfterMs: 1 } : super.refusal(id);
      }
    },
  ),
  mutant(
    "commits before synchronous work that returned a promise is done",
    "transactions/promise",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        // The promise in a box: nobody waits for it.
        const result = await super.runTransaction(id, (tx) => ({ value: work(tx) }));
        return result.status === "ran" ? { status: "ran", value: await result.value.value } : result;
      }
    },
    { work: "sync" },
  ),
  mutant(
    "refuses a promise only after it has committed",
    "transactions/promise",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        const result = await super.runTransaction(id, (tx) => ({ value: work(tx) }));
        if (result.status !== "ran") return result;
        if (isThenable(result.value.value)) throw new TypeError("The work returned a promise.");
        return { status: "ran", value: result.value.value };
      }
    },
    { work: "sync" },
  ),
  mutant(
    "lets late writes of the work pass",
    "transactions/closed-tx",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.runTransaction(id, (tx) => {
          const write = tx.write.bind(tx);
          tx.write = (effect) => (tx.open ? write(effect) : void this.database.effects.add(effect));
          return work(tx);
        });
      }
    },
  ),
  mutant(
    "swallows what the work throws",
    "transactions/wrap",
    class extends CorrectStore {
      override async runTransaction<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        return super.runTransaction(id, work).catch(() => ({ status: "ran", value: undefined as R }));
      }
    },
  ),
  mutant(
    "looks for a mark before it waits for the transaction of another",
    ["transactions/at-once", "transactions/waits-for-commit"],
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        if (id === undefined) return super.transact(id, work);
        this.requireId(id);
        const refused = await this.ask(() => this.refusal(id));
        if (refused) return refused;
        const unlock = await this.database.lock(this.key(id));
        return this.runTransaction(id, work).finally(unlock);
      }
    },
  ),
  mutant("marks outside the transaction", "transactions/unseen-before-commit", MarksOutside),
  mutant(
    "takes an id that is under way for processed",
    "transactions/waits-for-rollback",
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        if (id !== undefined && this.database.locks.has(this.key(id))) return { status: "processed" };
        return super.transact(id, work);
      }
    },
  ),
  mutant(
    "locks the whole table for a transaction",
    "transactions/other-id",
    class extends CorrectStore {
      override async transact<R>(id: string | undefined, work: Work<R>): Promise<TransactResult<R>> {
        if (this.database.locks.size > 0) return { status: "in-flight", retryAfterMs: 1_000 };
        return super.transact(id, work);
      }
    },
  ),
];
