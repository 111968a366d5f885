import { StoreTimeoutError, toStoreError } from "./errors.ts";
import type { Settings } from "./options.ts";
import { type Awaitable, isThenable } from "./store.ts";

/** A call of a store that must not take longer than the limit. */
export interface StoreCall<T> {
  /** The store method, for the error. */
  readonly operation: string;
  readonly id: string | undefined;
  /** Default: `storeTimeoutMs` of the wrapper. */
  readonly limitMs?: number;
  readonly call: () => Awaitable<T>;
  /** Is given an answer that came after the limit, when the caller has long been told of the timeout. */
  readonly onLate?: (answer: T) => void;
}

/**
 * Calls the store and gives its answer, or throws a `StoreError`. An answer that is there at once costs neither a time limit
 * nor a promise.
 */
export function withDeadline<T>(settings: Settings<never>, request: StoreCall<T>): Awaitable<T> {
  let answer: Awaitable<T>;
  try {
    answer = request.call();
  } catch (error) {
    throw toStoreError(error, request.operation, request.id);
  }
  return isThenable(answer) ? bounded(answer, settings, request) : answer;
}

function bounded<T>(
  answer: PromiseLike<T>,
  { limits, storeTimeoutMs }: Settings<never>,
  { operation, id, limitMs = storeTimeoutMs, onLate }: StoreCall<T>,
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
