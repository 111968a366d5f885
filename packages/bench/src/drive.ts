import type { Figures } from "./contestant.ts";
import { percentile } from "./statistics.ts";

export interface Drive {
  /** How many calls are made. */
  readonly calls: number;
  /** How many are in flight at any time. */
  readonly concurrency: number;
  /** How many deliveries one call stands for. */
  readonly deliveriesPerCall: number;
  /** Every which call's latency is taken: reading the clock takes as long as a delivery in memory. */
  readonly sampleEvery: number;
}

/** The loop that drives every contestant: so many workers, each of which awaits its call before it makes the next. */
export async function drive(call: (n: number) => Promise<unknown>, terms: Drive): Promise<Figures> {
  const { calls, concurrency, deliveriesPerCall, sampleEvery } = terms;
  const latenciesMs = new Float64Array(Math.ceil(calls / sampleEvery));
  let next = 0;
  const work = async () => {
    while (next < calls) {
      const n = next++;
      if (n % sampleEvery !== 0) {
        await call(n);
        continue;
      }
      const startedAt = performance.now();
      await call(n);
      latenciesMs[n / sampleEvery] = performance.now() - startedAt;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, work));
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    perSecond: (calls * deliveriesPerCall) / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  };
}
