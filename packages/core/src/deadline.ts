import { StoreTimeoutError, toStoreError } from "./errors.ts";
import { type Awaitable, isThenable } from "./store.ts";
import type { TimeLimits } from "./time-limits.ts";

/** A call of a store that must not take longer than the limit. */
export interface StoreCall<T> {
  /** The store method, for the error. */
  readonly operation: string;
  readonly id: string | undefined;
  readonly limitMs: number;
  /** Those of the wrapper, which share a timer. */
  readonly limits: TimeLimits;
  readonly call: () => Awaitable<T>;
  /** Is given an answer that came after the limit, when the caller has long been told of the timeout. */
  readonly onLate?: (answer: T) => void;
}

/**
 * Calls the store and gives its answer, or throws a `StoreError`. An answer that is there at once costs neither a time limit
 * nor a promise.
 */
export function withDeadline<T>(request: StoreCall<T>): Awaitable<T> {
  let answer: Awaitable<T>;
  try {
    answer = request.call();
  } catch (error) {
    throw toStoreError(error, request.operation, request.id);
  }
  return isThenable(answer) ? bounded(answer, request) : answer;
}

function bounded<T>(
  answer: PromiseLike<T>,
  { operation, id, limitMs, limits, onLate }: StoreCall<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false;
    const lift = limits.start(limitMs, () => {
      late = true;
      reject(new StoreTimeoutError(operation, id, limitMs));
    });
    Promise.resolve(answer).then(
      (value) => {
        lift();
        if (late) onLate?.(value);
        else resolve(value);
      },
      (error: unknown) => {
        lift();
        reject(toStoreError(error, operation, id));
      },
    );
  });
}
