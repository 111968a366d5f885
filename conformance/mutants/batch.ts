import { CorrectStore } from "./correct-store.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** Locks the rows of a batch one after another, and gives up when another batch holds what it needs. */
class Deadlocks extends CorrectStore {
  override async rememberMany(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.requireId(id);
    const { locks } = this.database;
    const held: string[] = [];
    try {
      for (const key of ids) {
        await Promise.resolve();
        if (locks.has(key)) throw new Error("deadlock detected");
        locks.set(key, Promise.resolve());
        held.push(key);
      }
      for (const id of ids) this.mark(id);
    } finally {
      for (const key of held) locks.delete(key);
    }
  }
}

/** Sorts ids to lock them in one order, in the array that it was given. */
class SortsInPlace extends CorrectStore {
  override async rememberMany(ids: readonly string[]): Promise<void> {
    (ids as string[]).sort();
    return super.rememberMany(ids);
  }
}

export const batchMutants: readonly Mutant[] = [
  mutant(
    "loses the order of a batch",
    ["batch/order", "batch/wrap"],
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return super.seenMany([...ids].sort());
      }
    },
  ),
  mutant(
    "answers a repeated id once",
    "batch/repeated",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return super.seenMany([...new Set(ids)]);
      }
    },
  ),
  mutant(
    "fails when a batch names an id twice",
    "batch/repeated",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        if (new Set(ids).size < ids.length) throw new Error("cannot affect row a second time");
        return super.rememberMany(ids);
      }
    },
  ),
  mutant(
    "fails on an empty batch",
    "batch/empty",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        if (ids.length === 0) throw new Error("syntax error at or near )");
        return super.seenMany(ids);
      }
    },
  ),
  mutant(
    "keeps the marks of batches apart from single ones",
    "batch/single",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        return super.rememberMany(ids.map((id) => `batch:${id}`));
      }
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return super.seenMany(ids.map((id) => `batch:${id}`));
      }
    },
  ),
  mutant(
    "drops a batch of which anything is marked already",
    "batch/again",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        const marked = await this.seenMany(ids);
        if (!marked.includes(true)) await super.rememberMany(ids);
      }
    },
  ),
  mutant(
    "marks many ids when it is asked for them",
    "batch/asking",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        const seen = await super.seenMany(ids);
        await this.rememberMany(ids);
        return seen;
      }
    },
  ),
  mutant(
    "answers only the first thousand of a batch",
    "batch/large",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return super.seenMany(ids.slice(0, 1_000));
      }
    },
  ),
  mutant("sorts the caller's array", "batch/caller-array", SortsInPlace),
  mutant("deadlocks when batches overlap", "batch/opposite-orders", Deadlocks),
  mutant(
    "takes a claim for a mark in a batch",
    "batch/claimed",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return this.ask(() => ids.map((id) => this.isLive(this.database.entries.get(this.key(id)))));
      }
    },
  ),
  mutant(
    "leaves claims alone when a batch is remembered",
    "batch/claimed",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        return this.ask(() => {
          for (const id of ids) if (!this.held(id)) this.mark(id);
        });
      }
    },
  ),
  mutant(
    "answers with a promise for each id of a batch",
    "batch/order",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return ids.map((id) => this.seen(id)) as never;
      }
    },
  ),
];
