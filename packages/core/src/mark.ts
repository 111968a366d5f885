import { setTimeout as pause } from "node:timers/promises";
import { withDeadline } from "./deadline.ts";
import type { StoreError } from "./errors.ts";
import type { Settings } from "./options.ts";
import { type Awaitable, isThenable } from "./store.ts";

/** The pause before the second attempt, in milliseconds; each further one is four times as long, up to the longest. */
const firstPauseMs = 25;
const longestPauseMs = 1_000;

/** A mark, or several, to be written after a success. */
export interface MarkRequest<T> {
  readonly operation: "remember" | "rememberMany" | "commit";
  readonly ids: readonly string[];
  readonly write: () => Awaitable<T>;
}

/**
 * Writes the mark of an effect that happened, trying again while the store fails. When it fails for good, the event says
 * so and the option `onMarkFailure` decides: `undefined` is answered, or the store's error thrown.
 */
export async function writeMark<T>(
  settings: Settings<never>,
  request: MarkRequest<T>,
): Promise<T | undefined> {
  const { events, markAttempts, onMarkFailure, storeTimeoutMs } = settings;
  const startedAt = events.now();
  const id = request.ids.length === 1 ? request.ids[0] : undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = withDeadline({
        operation: request.operation,
        id,
        limitMs: storeTimeoutMs,
        call: request.write,
      });
      return isThenable(answer) ? await answer : answer;
    } catch (error) {
      if (attempt < markAttempts) {
        await pause(Math.min(firstPauseMs * 4 ** (attempt - 1), longestPauseMs));
        continue;
      }
      const durationMs = events.now() - startedAt;
      for (const unmarked of request.ids) {
        events.tell({ type: "mark-failed", id: unmarked, durationMs, error: error as StoreError });
      }
      if (onMarkFailure === "throw") throw error;
      return undefined;
    }
  }
}
