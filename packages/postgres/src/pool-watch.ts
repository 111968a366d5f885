import { AsyncLocalStorage } from "node:async_hooks";
import { StoreError } from "@bq/idempotency-core/backend";
import type postgres from "postgres";

/** A transaction whose work is running, and how many calls it waits for that need a connection of their own. */
interface Running {
  waitsFor: number;
  over: boolean;
}

const watches = new WeakMap<postgres.Sql, PoolWatch>();

/** Notices when every connection of a pool is held by a transaction that waits for another connection of that pool. */
export class PoolWatch {
  readonly #running = new AsyncLocalStorage<Running>();
  readonly #size: number;
  #waiting = 0;

  private constructor(size: number) {
    this.#size = size;
  }

  /** The watch over a client's pool: one for all stores that borrow it. */
  static of(sql: postgres.Sql): PoolWatch {
    const watch = watches.get(sql) ?? new PoolWatch(sql.options.max);
    watches.set(sql, watch);
    return watch;
  }

  /** Runs the work of a transaction, which holds a connection. */
  async hold<T>(work: () => T | PromiseLike<T>): Promise<T> {
    const running: Running = { waitsFor: 0, over: false };
    try {
      return await this.#running.run(running, work);
    } finally {
      running.over = true;
    }
  }

  /** Makes a call that needs a connection of the pool. @throws {StoreError} when it would wait for itself */
  async take<T>(operation: string, id: string | undefined, call: () => Promise<T>): Promise<T> {
    const running = this.#running.getStore();
    if (running === undefined || running.over) return call();
    if (running.waitsFor === 0 && this.#waiting + 1 >= this.#size) {
      throw new StoreError(
        `${operation} was called by the work of a transaction, and all ${this.#size} connections of the pool are held by transactions that wait for another one. Use store.within(tx) there, or a larger pool.`,
        { operation, id },
      );
    }
    if (running.waitsFor++ === 0) this.#waiting++;
    try {
      return await call();
    } finally {
      if (--running.waitsFor === 0) this.#waiting--;
    }
  }
}
