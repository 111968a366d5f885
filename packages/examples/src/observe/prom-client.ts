import type { ObserveEvents } from "@bq/idempotency-core";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

const incidentTypes = ["mark-failed", "claim-lost", "release-failed", "store-failed"];

/**
 * Counts deliveries by outcome and incidents by kind, measures the handlers' time, and says how many deliveries are parked.
 * Call it once for a registry, and the function that it returns once for each queue.
 *
 * @example
 * const observing = deliveryMetrics(register);
 * const onOrder = wrapClaiming(store, handler, { observe: observing("orders") });
 */
export function deliveryMetrics(register: Registry): (queue: string) => ObserveEvents {
  const registers = [register];
  const deliveries = new Counter({
    name: "idempotency_deliveries_total",
    help: "Deliveries by what became of them",
    labelNames: ["queue", "outcome"],
    registers,
  });
  const incidents = new Counter({
    name: "idempotency_incidents_total",
    help: "Failures of the store, lost claims, and marks that could not be written",
    labelNames: ["queue", "incident"],
    registers,
  });
  const handlerTime = new Histogram({
    name: "idempotency_handler_seconds",
    help: "How long the handlers took",
    labelNames: ["queue", "outcome"],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 30],
    registers,
  });
  const parked = new Gauge({
    name: "idempotency_parked",
    help: "Deliveries that are parked now, for as long as each was told to stay away",
    labelNames: ["queue"],
    registers,
  });

  return (queue) => (event) => {
    const { type: outcome } = event;
    if (incidentTypes.includes(outcome)) incidents.inc({ queue, incident: outcome });
    // A store that failed ends a delivery only where the handler was not to run all the same.
    if (incidentTypes.includes(outcome) && !("action" in event && event.action === "throw")) return;
    deliveries.inc({ queue, outcome });
    if (outcome === "ran" || outcome === "failed" || outcome === "unidentified") {
      handlerTime.observe({ queue, outcome }, event.durationMs / 1_000);
    }
    if (event.type !== "parked") return;
    parked.inc({ queue });
    setTimeout(() => parked.dec({ queue }), event.retryAfterMs).unref();
  };
}
