import { Registry } from "prom-client";
import { afterEach, expect, test, vi } from "vitest";
import { deliveryMetrics } from "../src/observe/prom-client.ts";
import { everyOutcome } from "./observe-scene.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("what Prometheus scrapes: deliveries by outcome, incidents by kind, the handlers' time, and those parked now", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const register = new Registry();
  const observing = deliveryMetrics(register);
  await everyOutcome(observing("orders"));
  observing("mails")({ type: "ran", id: "x", durationMs: 700 });

  const scraped = (await register.metrics()).split("\n");
  const shown = (name: string) => scraped.filter((line) => line.startsWith(name)).sort();
  expect(shown("idempotency_deliveries_total")).toEqual([
    'idempotency_deliveries_total{queue="mails",outcome="ran"} 1',
    'idempotency_deliveries_total{queue="orders",outcome="failed"} 1',
    'idempotency_deliveries_total{queue="orders",outcome="parked"} 1',
    'idempotency_deliveries_total{queue="orders",outcome="ran"} 3',
    'idempotency_deliveries_total{queue="orders",outcome="skipped"} 1',
    'idempotency_deliveries_total{queue="orders",outcome="store-failed"} 1',
    'idempotency_deliveries_total{queue="orders",outcome="unidentified"} 1',
  ]);
  expect(shown("idempotency_incidents_total")).toEqual([
    'idempotency_incidents_total{queue="orders",incident="mark-failed"} 1',
    'idempotency_incidents_total{queue="orders",incident="store-failed"} 1',
  ]);
  expect(shown("idempotency_handler_seconds_count")).toEqual([
    'idempotency_handler_seconds_count{queue="mails",outcome="ran"} 1',
    'idempotency_handler_seconds_count{queue="orders",outcome="failed"} 1',
    'idempotency_handler_seconds_count{queue="orders",outcome="ran"} 3',
    'idempotency_handler_seconds_count{queue="orders",outcome="unidentified"} 1',
  ]);
  expect(scraped).toContain('idempotency_handler_seconds_sum{queue="mails",outcome="ran"} 0.7');
  expect(shown("idempotency_parked")).toEqual(['idempotency_parked{queue="orders"} 1']);

  vi.advanceTimersByTime(5_000);
  expect(await register.getSingleMetricAsString("idempotency_parked")).toContain('{queue="orders"} 0');
});
