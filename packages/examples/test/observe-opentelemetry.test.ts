import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { measureDeliveries } from "../src/observe/opentelemetry.ts";
import { everyOutcome } from "./observe-scene.ts";

test("what the SDK exports: deliveries by outcome, incidents by kind, the handlers' time, and those parked now", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 600_000,
    exportTimeoutMillis: 10_000,
  });
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  await everyOutcome(measureDeliveries({ queue: "orders" }));
  await provider.forceFlush();

  const exported = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  const [scope] = exported;
  expect(scope?.scope.name).toBe("orders-consumer");
  const found = Object.fromEntries(
    exported
      .flatMap(({ metrics: measured }) => measured)
      .map(({ descriptor, dataPoints }) => [
        descriptor.name,
        Object.fromEntries(
          dataPoints.map(({ attributes: { outcome, incident }, value }) => [
            outcome ?? incident ?? "",
            typeof value === "number" ? value : value.count,
          ]),
        ),
      ]),
  );
  expect(found).toEqual({
    "bq.idempotency.deliveries": {
      ran: 3,
      skipped: 1,
      parked: 1,
      failed: 1,
      unidentified: 1,
      "store-failed": 1,
    },
    "bq.idempotency.incidents": { "store-failed": 1, "mark-failed": 1 },
    "bq.idempotency.handler.duration": { ran: 3, failed: 1, unidentified: 1 },
    "bq.idempotency.parked": { "": 1 },
  });
  await provider.shutdown();
});
