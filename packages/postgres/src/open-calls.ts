import { StoreError } from "@bq/idempotency-core/backend";
import type { PoolWatch } from "./pool-watch.ts";

/** The calls of a store that are under way: closing waits for them, and lets no further one begin. */
export class OpenCalls {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #pool: PoolWatch;
  #closed = false;

  constructor(pool: PoolWatch) {
    this.#pool = pool;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** @throws {StoreError} with the code `BQ_STORE_CLOSED` once the store was closed */
  requireOpen(operation: string): void {
    if (this.#closed) throw closedError(operation);
  }

  /** Makes the call, unless the store is closed. */
  run<T>(operation: string, id: string | undefined, call: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closedError(operation, id));
    const answer = this.#pool.take(operation, id, call);
    this.#calls.add(answer);
    const done = (): boolean => this.#calls.delete(answer);
    answer.then(done, done);
    return answer;
  }

  /** Refuses calls from now on, and resolves when those under way are done, or the time is over. */
  async close(limitMs: number): Promise<void> {
    this.#closed = true;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([Promise.allSettled(this.#calls), over]);
    clearTimeout(timer);
  }
}

function closedError(operation: string, id?: string): StoreError {
  return new StoreError(`The store is closed: ${operation} came after close().`, {
    operation,
    id,
    code: "BQ_STORE_CLOSED",
  });
}
