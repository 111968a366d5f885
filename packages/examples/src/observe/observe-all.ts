import type { ObserveEvents } from "@bq/idempotency-core";

/** One observer that tells several, such as a log and metrics. One that throws keeps nothing from the others. */
export function observeAll(...observers: readonly ObserveEvents[]): ObserveEvents {
  return (event) => {
    for (const observe of observers) {
      try {
        void Promise.resolve(observe(event)).catch(() => {});
      } catch {
        // It watches only; the delivery goes on, and so do the others.
      }
    }
  };
}
