import type { IdempotencyEvent, ObserveEvents } from "@bq/idempotency-core";
import type { Level, Logger } from "pino";

/** A skip is everyday; an effect that may happen twice is for somebody to look at. */
const levels: Record<IdempotencyEvent["type"], Level> = {
  ran: "info",
  skipped: "debug",
  parked: "info",
  unidentified: "warn",
  failed: "error",
  "store-failed": "error",
  "release-failed": "warn",
  "claim-lost": "error",
  "mark-failed": "error",
};

/**
 * Logs each delivery as one line. pino writes a field `err` with its type, message and stack.
 *
 * @example
 * const onOrder = wrap(store, handler, { observe: logDeliveries(logger.child({ queue: "orders" })) });
 */
export function logDeliveries(logger: Logger): ObserveEvents {
  return ({ type, ...event }) => {
    const { error, ...fields } = { error: undefined, ...event };
    logger[levels[type]](error === undefined ? fields : { ...fields, err: error }, `delivery ${type}`);
  };
}
