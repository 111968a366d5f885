/**
 * The events of a wrapper as metrics of OpenTelemetry. Needs `@opentelemetry/api`, and an SDK that exports what is measured.
 *
 * @module
 */
import type { Attributes, Meter } from "@opentelemetry/api";
import type { IdempotencyEvent, ObserveEvents } from "./events.ts";
import { maxTimerMs } from "./options.ts";

/** Where a histogram's buckets end, in seconds: handlers take from a millisecond to minutes. */
const bucketsS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Makes an observer that measures deliveries. For the option `observe` of a wrapper:
 *
 * - `bq.idempotency.deliveries`, a counter: every delivery once, by `outcome`: `ran`, `skipped`, `parked`, `failed`,
 *   `unidentified`, or `store-failed`
 * - `bq.idempotency.incidents`, a counter: what should not happen, by `incident`: `mark-failed`, `claim-lost`,
 *   `release-failed`, or `store-failed`
 * - `bq.idempotency.handler.duration`, a histogram in seconds: the time of the handlers, by `outcome`
 * - `bq.idempotency.parked`, an up-down counter: deliveries that are parked now, for as long as each was told to stay away
 *
 * @param meter from a `MeterProvider`, or `metrics.getMeter(name)` of `@opentelemetry/api`
 * @param attributes are put on every measurement, to tell several consumers apart, such as `{ queue: "orders" }`
 *
 * @example
 * const observe = observeWithMeter(metrics.getMeter("orders"), { queue: "orders" });
 * const onOrder = wrapClaiming(store, handler, { observe });
 */
export function observeWithMeter(meter: Meter, attributes: Attributes = {}): ObserveEvents {
  const deliveries = meter.createCounter("bq.idempotency.deliveries", {
    unit: "{delivery}",
    description: "Deliveries by what became of them",
  });
  const incidents = meter.createCounter("bq.idempotency.incidents", {
    unit: "{incident}",
    description: "Failures of the store, lost claims, and marks that could not be written",
  });
  const handlerTime = meter.createHistogram("bq.idempotency.handler.duration", {
    unit: "s",
    description: "How long the handlers took",
    advice: { explicitBucketBoundaries: bucketsS },
  });
  const parked = meter.createUpDownCounter("bq.idempotency.parked", {
    unit: "{delivery}",
    description: "Deliveries that are parked now",
  });

  return (event) => {
    if (isIncident(event)) incidents.add(1, { ...attributes, incident: event.type });
    if (!isOutcome(event)) return;
    const measured = { ...attributes, outcome: event.type };
    deliveries.add(1, measured);
    if (event.type === "ran" || event.type === "failed" || event.type === "unidentified") {
      handlerTime.record(event.durationMs / 1_000, measured);
    }
    if (event.type !== "parked") return;
    parked.add(1, attributes);
    setTimeout(() => parked.add(-1, attributes), Math.min(event.retryAfterMs, maxTimerMs)).unref();
  };
}

function isIncident({ type }: IdempotencyEvent): boolean {
  return (
    type === "mark-failed" || type === "claim-lost" || type === "release-failed" || type === "store-failed"
  );
}

/** A delivery ends in one of these; a store that failed ends it only where the handler was not to run all the same. */
function isOutcome(event: IdempotencyEvent): boolean {
  return event.type === "store-failed" ? event.action === "throw" : !isIncident(event);
}
