import { CorrectStore } from "./correct-store.ts";
import { type Mutant, mutant } from "./mutant.ts";

const plain = { capabilities: [] } as const;

/** Answers from what this handle has done itself. */
class SplitsByHandle extends CorrectStore {
  readonly #own = new Set<string>();

  override async remember(id: string): Promise<void> {
    await super.remember(id);
    this.#own.add(id);
  }

  override async seen(id: string): Promise<boolean> {
    return (await super.seen(id)) && this.#own.has(id);
  }
}

/** Keeps answers that it has once been given. */
class CachesAnswers extends CorrectStore {
  readonly #seen = new Set<string>();

  override async seen(id: string): Promise<boolean> {
    if (this.#seen.has(id) || (await super.seen(id))) this.#seen.add(id);
    return this.#seen.has(id);
  }
}

/** Reads all marks, adds one, and writes them back, like a file that is rewritten whole. */
class RewritesEverything extends CorrectStore {
  override async remember(id: string): Promise<void> {
    this.requireId(id);
    const read = await this.ask(() => new Map(this.database.entries));
    await this.ask(() => {
      this.database.entries.clear();
      for (const [key, entry] of read) this.database.entries.set(key, entry);
      this.mark(id);
    });
  }
}

/** Sends the calls that arrive together as one statement, which one bad id spoils for all. */
class FailsTogether extends CorrectStore {
  #spoiled = false;

  override requireId(id: string): void {
    if (id !== "") return;
    this.#spoiled = true;
    setImmediate(() => {
      this.#spoiled = false;
    });
    super.requireId(id);
  }

  override async ask<T>(step: () => T): Promise<T> {
    await Promise.resolve();
    if (this.#spoiled) throw new TypeError("one of the ids is empty");
    return super.ask(step);
  }
}

export const seenSetMutants: readonly Mutant[] = [
  mutant(
    "lacks a method of a capability that it is declared to have",
    "seen-set/methods",
    class extends CorrectStore {
      override rememberMany = undefined as never;
    },
  ),
  mutant("has a capability that is not declared", "seen-set/undeclared", CorrectStore, plain),
  mutant(
    "takes every id for seen once anything was remembered",
    ["seen-set/absent", "seen-set/independent", "seen-set/at-once"],
    class extends CorrectStore {
      override isMarked(): boolean {
        return this.database.entries.size > 0;
      }
    },
  ),
  mutant(
    "splits by handle",
    ["seen-set/remembered", "seen-set/reopened", "seen-set/wrap-skips"],
    SplitsByHandle,
  ),
  mutant(
    "marks an id when it is asked for it",
    ["seen-set/asking", "seen-set/wrap-marks-last"],
    class extends CorrectStore {
      override async seen(id: string): Promise<boolean> {
        const seen = await super.seen(id);
        await this.remember(id);
        return seen;
      }
    },
  ),
  mutant(
    "fails when an id is remembered twice",
    "seen-set/twice",
    class extends CorrectStore {
      override mark(id: string): void {
        if (this.isMarked(id)) throw new Error("duplicate key");
        super.mark(id);
      }
    },
  ),
  mutant(
    "forgets to forget",
    ["seen-set/forgotten", "seen-set/independent"],
    class extends CorrectStore {
      override drop(): void {}
    },
  ),
  mutant("never asks again for an id that it once saw", "seen-set/twice", CachesAnswers),
  mutant(
    "fails when an absent id is forgotten",
    "seen-set/forget-absent",
    class extends CorrectStore {
      override drop(id: string): void {
        if (!this.isMarked(id)) throw new Error("not found");
        super.drop(id);
      }
    },
  ),
  mutant(
    "forgets for ever",
    "seen-set/again",
    class extends CorrectStore {
      override drop(id: string): void {
        this.database.entries.set(this.key(id), { until: 0 });
      }
      override mark(id: string): void {
        if (!this.database.entries.has(this.key(id))) super.mark(id);
      }
    },
  ),
  mutant(
    "forgets everything with one id",
    ["seen-set/independent", "seen-set/forget-absent"],
    class extends CorrectStore {
      override drop(): void {
        this.database.entries.clear();
      }
    },
  ),
  mutant("loses marks that are written at the same time", "seen-set/at-once", RewritesEverything),
  mutant(
    "answers 1 and 0 for true and false",
    ["seen-set/remembered", "seen-set/absent"],
    class extends CorrectStore {
      override isMarked(id: string): boolean {
        return Number(super.isMarked(id)) as never;
      }
    },
  ),
  mutant(
    "lets one bad call fail those beside it",
    ["seen-set/neighbours", "races/neighbours"],
    FailsTogether,
  ),
];
