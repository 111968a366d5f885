import {
  AggregationTemporality,
  type DataPoint,
  MeterProvider,
  MetricReader,
} from "@opentelemetry/sdk-metrics";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { InMemoryStore, type Store, wrap, wrapClaiming } from "../src/index.ts";
import { observeWithMeter } from "../src/otel.ts";
import { failing, message } from "./stores.ts";

/** Exports nothing by itself: a test asks. */
class AskedReader extends MetricReader {
  override selectAggregationTemporality = () => AggregationTemporality.CUMULATIVE;
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

let reader: AskedReader;
let provider: MeterProvider;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  reader = new AskedReader();
  provider = new MeterProvider({ readers: [reader] });
});

afterEach(async () => {
  vi.useRealTimers();
  await provider.shutdown();
});

/** What was measured under the name, by its attributes. */
async function measured<T = number>(name: string): Promise<Record<string, T>> {
  const { resourceMetrics } = await reader.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
  return Object.fromEntries(
    (points as DataPoint<T>[]).map(({ attributes, value }) => [Object.values(attributes).join(" "), value]),
  );
}

const observe = () => observeWithMeter(provider.getMeter("test"), { queue: "orders" });

it("every delivery is counted once by its outcome, with the attributes that were given", async () => {
  const store = new InMemoryStore();
  const handler = (sent: { meta: { id: unknown } }) => {
    if (sent.meta.id === "bad") throw new Error("declined");
  };
  const deliver = wrap(store, handler, { observe: observe() });
  for (const id of ["a", "a", "a", undefined, "b"]) await deliver(message(id));
  await deliver(message("bad")).catch(() => {});
  const down: Store = { ...failing({ seen: 99 }) };
  await wrap(down, handler, { observe: observe() })(message("c")).catch(() => {});
  expect(await measured("bq.idempotency.deliveries")).toEqual({
    "orders ran": 2,
    "orders skipped": 2,
    "orders unidentified": 1,
    "orders failed": 1,
    "orders store-failed": 1,
  });
  expect(await measured("bq.idempotency.incidents")).toEqual({ "orders store-failed": 1 });
});

it("an incident beside an outcome does not count as a delivery", async () => {
  const store = failing({ seen: 99, remember: 99 });
  const options = { observe: observe(), onStoreFailure: "run", markAttempts: 1 } as const;
  await wrap(store, () => {}, options)(message("a"));
  expect(await measured("bq.idempotency.deliveries")).toEqual({ "orders ran": 1 });
  expect(await measured("bq.idempotency.incidents")).toEqual({
    "orders store-failed": 1,
    "orders mark-failed": 1,
  });
});

it("the handlers' times are a histogram in seconds, and a skip has none", async () => {
  const now = vi.spyOn(performance, "now");
  const deliver = wrap(
    new InMemoryStore(),
    () => {
      now.mockReturnValue(1_700);
    },
    { observe: observe() },
  );
  now.mockReturnValue(1_000);
  await deliver(message("a"));
  await deliver(message("a"));
  now.mockRestore();
  const times = await measured<{
    count: number;
    sum: number;
    buckets: { boundaries: number[]; counts: number[] };
  }>("bq.idempotency.handler.duration");
  expect(Object.keys(times)).toEqual(["orders ran"]);
  const { count, sum, buckets } = times["orders ran"] ?? expect.fail("nothing was measured");
  expect([count, sum]).toEqual([1, expect.closeTo(0.7)]);
  expect(buckets.boundaries[buckets.counts.indexOf(1)]).toBe(1);
});

it("a parked delivery counts as parked for as long as it was told to stay away", async () => {
  const store = new InMemoryStore();
  store.claim("a", 5_000);
  const deliver = wrapClaiming(store, () => {}, { observe: observe() });
  for (const delivery of [message("a"), message("a")]) await deliver(delivery).catch(() => {});
  expect(await measured("bq.idempotency.parked")).toEqual({ orders: 2 });
  vi.advanceTimersByTime(4_000);
  expect(await measured("bq.idempotency.parked")).toEqual({ orders: 2 });
  vi.advanceTimersByTime(1_000);
  expect(await measured("bq.idempotency.parked")).toEqual({ orders: 0 });
});
