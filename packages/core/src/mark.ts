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
 * so and the option `onMarkFailure` decides: `undefined` is answered, or the store's error thrown. A store that answers at
 * once costs no promise.
 */
export function writeMark<T>(settings: Settings<never>, request: MarkRequest<T>): Awaitable<T | undefined> {
  const startedAt = settings.events.now();
  try {
    const answer = attempt(settings, request);
    if (!isThenable(answer)) return answer;
    return answer.then(undefined, (error: StoreError) => tryAgain(settings, request, startedAt, error));
  } catch (error) {
    return tryAgain(settings, request, startedAt, error as StoreError);
  }
}

function attempt<T>(settings: Settings<never>, { operation, ids, write }: MarkRequest<T>): Awaitable<T> {
  const id = ids.length === 1 ? ids[0] : undefined;
  return withDeadline(settings, { operation, id, call: write });
}

async function tryAgain<T>(
  settings: Settings<never>,
  request: MarkRequest<T>,
  startedAt: number,
  firstError: StoreError,
): Promise<T | undefined> {
  const { events, markAttempts, onMarkFailure } = settings;
  let error = firstError;
  for (let failures = 1; failures < markAttempts; failures++) {
    await pause(Math.min(firstPauseMs * 4 ** (failures - 1), longestPauseMs));
    try {
      return await attempt(settings, request);
    } catch (cause) {
      error = cause as StoreError;
    }
  }
  const durationMs = events.now() - startedAt;
  for (const id of request.ids) events.tell({ type: "mark-failed", id, durationMs, error });
  if (onMarkFailure === "throw") throw error;
  return undefined;
}
