import { clearTimeout, setTimeout } from "node:timers";
import type { Awaitable } from "@bq/idempotency-core";

/** A step of a case that may not take longer than its limit. */
export interface Step<T> {
  /** What is waited for, as the subject of a sentence: "open() of MyStore". */
  readonly what: string;
  readonly limitMs: number;
  readonly start: () => Awaitable<T>;
  /** Is given an answer that came after the limit, when nobody waits for it any more. What it throws is swallowed. */
  readonly onLate?: (answer: T) => Awaitable<unknown>;
}

/** Runs the step, and gives it up at its limit. What an abandoned step still throws is swallowed. */
export function beforeDeadline<T>({ what, limitMs, start, onLate }: Step<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new Error(`${what} did not end within ${limitMs} ms.`));
    }, limitMs);
    // Started in a microtask, so that a throw and a rejection are one.
    Promise.resolve()
      .then(start)
      .then(
        async (answer) => {
          clearTimeout(timer);
          if (!late) return resolve(answer);
          await onLate?.(answer);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      )
      .catch(() => {});
  });
}
