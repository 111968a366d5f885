import { setTimeout as pause } from "node:timers/promises";

/** Gives what the promise gives, or throws when that takes longer. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  const abort = new AbortController();
  const limit = pause(limitMs, undefined, { signal: abort.signal }).then(
    () => {
      throw new Error(`Not done after ${limitMs / 1_000} s.`);
    },
    // Settled in time: nobody looks at this any more.
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([promise, limit]);
  } finally {
    abort.abort();
  }
}
