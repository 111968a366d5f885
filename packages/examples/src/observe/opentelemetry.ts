import type { ObserveEvents } from "@bq/idempotency-core";
import { observeWithMeter } from "@bq/idempotency-core/otel";
import { type Attributes, metrics } from "@opentelemetry/api";

/**
 * An observer that measures through the `MeterProvider` that was set for the process, once an SDK has set one.
 *
 * @example
 * metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
 * const onOrder = wrapClaiming(store, handler, { observe: measureDeliveries({ queue: "orders" }) });
 */
export function measureDeliveries(attributes: Attributes): ObserveEvents {
  return observeWithMeter(metrics.getMeter("orders-consumer"), attributes);
}
