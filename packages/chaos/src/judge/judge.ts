import { findMisconduct, growthOf } from "./conduct.ts";
import { findContradictions } from "./contradictions.ts";
import { type Doubled, findDoubled, isExplained } from "./doubles.ts";
import type { Effect, Evidence } from "./evidence.ts";

/** What a scenario came to. It passed when `faults` is empty. */
export interface Verdict {
  readonly messages: number;
  readonly deliveries: number;
  readonly effects: number;
  /** The ids of messages that the broker took and that never had an effect. */
  readonly lost: readonly string[];
  readonly doubled: readonly Doubled[];
  /** How often each event was told. */
  readonly events: Readonly<Record<string, number>>;
  /** The most that the heap of a worker grew after its warm-up, in bytes. */
  readonly heapGrowth: number;
  /** Everything for which the scenario fails. */
  readonly faults: readonly string[];
}

/** Judges a scenario by what the ledger counted and the logs tell. */
export function judge(evidence: Evidence): Verdict {
  const workers = new Map(evidence.workers.map((worker) => [worker.name, worker]));
  const deliveryOf = ({ worker, delivery }: Effect) => workers.get(worker)?.deliveries.get(delivery);
  const deliveries = evidence.workers.flatMap((worker) => [...worker.deliveries.values()]);
  const had = new Set(evidence.effects.map(({ id }) => id));
  const lost = evidence.sent.filter((id) => !had.has(id));
  const doubled = findDoubled(evidence, deliveryOf);
  return {
    messages: evidence.sent.length,
    deliveries: deliveries.length,
    effects: evidence.effects.length,
    lost,
    doubled,
    events: countBy(deliveries.flatMap(({ events }) => events.map(({ event }) => event))),
    heapGrowth: Math.max(0, ...evidence.workers.map(growthOf)),
    faults: [
      ...lost.map((id) => `${id} was lost`),
      ...doubled.filter((each) => !isExplained(each)).map(unexplained),
      ...findContradictions(evidence, deliveryOf),
      ...findMisconduct(evidence),
    ],
  };
}

function unexplained({ id, pairs }: Doubled): string {
  const pair = pairs.find(({ cause }) => cause === undefined);
  return `${id} had its effect twice without a reason: ${pair?.later} ran it although ${pair?.earlier} had`;
}

export function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
