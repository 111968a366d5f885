import { isIdempotencyError } from "@bq/idempotency-core";

/**
 * How long to leave a delivery that was refused, in whole milliseconds: its id is in flight elsewhere, or the store could not
 * say whether it was processed. `undefined` for any other error: the handler ran and failed.
 */
export function retryAfterMs(error: unknown): number | undefined {
  if (!isIdempotencyError(error) || !("retryAfterMs" in error)) return undefined;
  return Math.max(1, Math.ceil(Number(error.retryAfterMs)));
}
