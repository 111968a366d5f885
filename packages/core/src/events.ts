import { type ClaimLostError, describeError, quoteId, type StoreError } from "./errors.ts";
import { isThenable } from "./store.ts";

/**
 * What became of a delivery. Each delivery ends in exactly one of `ran`, `skipped`, `parked`, `failed`, `unidentified` or a
 * `store-failed` with `action: "throw"`; the others come beside it.
 */
export type IdempotencyEvent =
  /** The handler succeeded; `durationMs` is its time. */
  | { readonly type: "ran"; readonly id: string; readonly durationMs: number }
  /** The id was processed before, so the handler was not called. */
  | { readonly type: "skipped"; readonly id: string; readonly durationMs: number }
  /** The id is in flight elsewhere, so the delivery was refused for now. */
  | {
      readonly type: "parked";
      readonly id: string;
      readonly durationMs: number;
      readonly retryAfterMs: number;
    }
  /** The handler threw `error`; `durationMs` is its time. Without a usable id, `id` is `undefined`. */
  | {
      readonly type: "failed";
      readonly id: string | undefined;
      readonly durationMs: number;
      readonly error: unknown;
    }
  /** There was no usable id and the handler succeeded, unguarded. `error` is what reading the id threw, if it did. */
  | { readonly type: "unidentified"; readonly durationMs: number; readonly error: unknown }
  /** The handler succeeded and its mark could not be written: a redelivery would run it again. */
  | {
      readonly type: "mark-failed";
      readonly id: string;
      readonly durationMs: number;
      readonly error: StoreError;
    }
  /** The lease was over before the handler was done: another worker may have run it too. */
  | {
      readonly type: "claim-lost";
      readonly id: string;
      readonly durationMs: number;
      readonly error: ClaimLostError;
    }
  /** The handler failed and its claim could not be dropped: the id stays in flight until the lease lapses. */
  | {
      readonly type: "release-failed";
      readonly id: string;
      readonly durationMs: number;
      readonly error: StoreError;
    }
  /** The store could not say whether the id was processed; `action` is what the delivery did then. */
  | {
      readonly type: "store-failed";
      readonly id: string | undefined;
      readonly durationMs: number;
      readonly error: StoreError;
      readonly action: "throw" | "run";
    };

/** Is told of each event. A promise that it returns is not waited for. */
export type ObserveEvents = (event: IdempotencyEvent) => unknown;

/** What a wrapper reports to. */
export interface Observer {
  /** A reading of a monotonic clock in milliseconds; always 0 when nobody listens, for then no duration is told either. */
  now(): number;
  tell(event: IdempotencyEvent): void;
}

/**
 * Makes an observer of the option `observe`. Without one, what must never pass unseen becomes a process warning: for each
 * message that may have its effect again, and once for a wrapper that met a message without an id, for that may be meant.
 */
export function observer(observe: ObserveEvents | undefined, wrapper: string): Observer {
  if (observe === undefined) return warner(wrapper);
  return Object.freeze({
    now: () => performance.now(),
    tell(event: IdempotencyEvent) {
      try {
        const answer = observe(event);
        if (isThenable(answer)) answer.then(undefined, () => {});
      } catch {
        // An observer watches; it has no say in the outcome.
      }
    },
  });
}

function warner(wrapper: string): Observer {
  let unguarded = false;
  return Object.freeze({
    now: () => 0,
    tell(event: IdempotencyEvent) {
      if (event.type !== "unidentified") return warn(event);
      if (!unguarded) warnOfUnguarded(wrapper, event.error);
      unguarded = true;
    },
  });
}

function warnOfUnguarded(wrapper: string, error: unknown): void {
  const why = error === undefined ? "" : ` Reading it failed: ${describeError(error)}.`;
  process.emitWarning(
    `${wrapper}: a message without a usable id ran unguarded, as it will on every delivery.${why} The option key reads ids from elsewhere than meta.id; observe is told of each such message. This wrapper warns once.`,
    { type: "IdempotencyWarning", code: "BQ_UNIDENTIFIED" },
  );
}

function warn(event: IdempotencyEvent): void {
  if (event.type !== "mark-failed" && event.type !== "claim-lost") return;
  const what =
    event.type === "mark-failed"
      ? "was processed, but could not be marked"
      : "was processed under a claim that was lost";
  process.emitWarning(`Message ${quoteId(event.id)} ${what}: ${event.error.message}`, {
    type: "IdempotencyWarning",
    code: event.type === "mark-failed" ? "BQ_MARK_FAILED" : "BQ_CLAIM_LOST",
  });
}
