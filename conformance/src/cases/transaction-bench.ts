import assert from "node:assert/strict";
import type { Store } from "@bq/idempotency-core";
import { type Awaitable, isThenable } from "@bq/idempotency-core/backend";
import type { Bench } from "../bench.ts";
import type { TransactionHooks } from "../subject.ts";

/** Goes on with the answer: at once when it is there at once, because the work of a synchronous store may not wait. */
export function andThen<T, R>(answer: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isThenable(answer) ? Promise.resolve(answer).then(next) : next(answer);
}

/** What a case about transactions works with: effects beside the marks, through the hooks of the subject. */
export class TransactionBench {
  readonly #bench: Bench;
  readonly #hooks: TransactionHooks;

  constructor(bench: Bench) {
    const { transactions } = bench.subject;
    assert.ok(transactions, "a subject with transactions has their hooks");
    this.#bench = bench;
    this.#hooks = transactions;
  }

  /** Writes the effect through the transaction, and then goes on. */
  write<R>(tx: unknown, effect: string, next: () => Awaitable<R>): Awaitable<R> {
    return andThen(this.#hooks.write(tx, effect, this.#bench.context), next);
  }

  /** Work that writes one effect and answers with its name. */
  writing(effect: string): (tx: unknown) => Awaitable<string> {
    return (tx) => this.write(tx, effect, () => effect);
  }

  /** Work that writes one effect and then throws. */
  writingAndThrowing(effect: string, thrown: unknown): (tx: unknown) => Awaitable<never> {
    return (tx) =>
      this.write(tx, effect, () => {
        throw thrown;
      });
  }

  /** Runs the work in a transaction of the caller's own. */
  async begin<R>(store: Store, work: (tx: unknown) => Awaitable<R>): Promise<R> {
    return this.#hooks.begin(work, this.#bench.context, store);
  }

  async isWritten(effect: string): Promise<boolean> {
    return this.#hooks.written(effect, this.#bench.context);
  }

  /** The effect and the mark of the id are both there, or both are not. */
  async expectBoth(
    stores: readonly Store[],
    id: string,
    effect: string,
    there: boolean,
    when: string,
  ): Promise<void> {
    assert.equal(await this.isWritten(effect), there, `the effect ${effect} is written ${when}`);
    for (const store of stores) assert.equal(await store.seen(id), there, `seen(${id}) ${when}`);
  }

  /** How many of the effects were committed. */
  async countWritten(effects: readonly string[]): Promise<number> {
    let count = 0;
    for (const effect of effects) if (await this.isWritten(effect)) count++;
    return count;
  }
}

/** A promise that the test settles when it wants to. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
