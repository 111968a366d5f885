import { StoreTimeoutError } from "@bq/idempotency-core";

/** How long the server may take over its own share of a transaction, in milliseconds, the wait for a lock not counted. */
export const answerLimitMs = 5_000;

/**
 * Bounds the server's share of a transaction, so that one behind a connection that swallows everything gives its place in the
 * pool back. How long the work itself takes is the caller's affair.
 */
export class AnswerLimit {
  readonly #id: string | undefined;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string | undefined) {
    this.#id = id;
  }

  /** Aborts when the server has not answered in time. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The answer, unless it comes too late. */
  bound<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = this;
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      answer.then(resolve, reject);
    });
  }

  /** From now on the server is to answer. */
  start(limitMs: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#controller.abort(new StoreTimeoutError("transact", this.#id, limitMs));
    }, limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
