import { countBy } from "../judge/judge.ts";
import type { ScenarioResult } from "../scenario.ts";

/** A doubled effect, and why each earlier one did not keep a later one from happening. */
export interface DoubledReport {
  readonly id: string;
  readonly effects: readonly string[];
  readonly because: readonly string[];
}

/** What the JSON file says of one scenario. */
export interface ScenarioReport {
  readonly scenario: string;
  readonly passed: boolean;
  readonly durationMs: number;
  readonly messages: number;
  readonly deliveries: number;
  readonly effects: number;
  readonly lost: readonly string[];
  readonly doubled: readonly DoubledReport[];
  /** Of the doubled effects, how many pairs each rule explains. */
  readonly explainedBy: Readonly<Record<string, number>>;
  /** Each fault that was injected; times in milliseconds after the first. */
  readonly faults: readonly {
    kind: string;
    fromMs: number;
    untilMs: number;
    worker?: string;
    step?: string;
  }[];
  readonly faultCounts: Readonly<Record<string, number>>;
  readonly faultsNotReached: number;
  readonly rowsPurged: number;
  readonly events: Readonly<Record<string, number>>;
  readonly heapGrowthBytes: number;
  readonly problems: readonly string[];
}

/** What the JSON file says. */
export interface RunReport {
  readonly seed: number;
  readonly minutes: number;
  readonly leaseMs: number;
  readonly passed: boolean;
  readonly durationMs: number;
  readonly totals: {
    readonly messages: number;
    readonly deliveries: number;
    readonly effects: number;
    readonly lost: number;
    readonly doubled: number;
    readonly unexplained: number;
    readonly faults: number;
  };
  readonly scenarios: readonly ScenarioReport[];
  /** Processes that were still there at the end. */
  readonly leftovers: readonly string[];
}

export function reportOf(
  { seed, minutes }: { seed: number; minutes: number },
  results: readonly ScenarioResult[],
  { durationMs, leftovers, leaseMs }: { durationMs: number; leftovers: readonly string[]; leaseMs: number },
): RunReport {
  const scenarios = results.map(scenarioReport);
  const sum = (figure: (scenario: ScenarioReport) => number) =>
    scenarios.reduce((total, scenario) => total + figure(scenario), 0);
  return {
    seed,
    minutes,
    leaseMs,
    passed: scenarios.every(({ passed }) => passed) && leftovers.length === 0,
    durationMs: Math.round(durationMs),
    totals: {
      messages: sum(({ messages }) => messages),
      deliveries: sum(({ deliveries }) => deliveries),
      effects: sum(({ effects }) => effects),
      lost: sum(({ lost }) => lost.length),
      doubled: sum(({ doubled }) => doubled.length),
      unexplained: sum(({ explainedBy }) => explainedBy[unexplained] ?? 0),
      faults: sum(({ faults }) => faults.length),
    },
    scenarios,
    leftovers,
  };
}

const unexplained = "nothing";

function scenarioReport({
  name,
  durationMs,
  injected,
  notReached,
  purged,
  verdict,
}: ScenarioResult): ScenarioReport {
  const { messages, deliveries, effects, lost, doubled, events, heapGrowth, faults } = verdict;
  const startMs = Math.min(...injected.map(({ fromMs }) => fromMs));
  const inOrder = injected.toSorted((a, b) => a.fromMs - b.fromMs);
  return {
    scenario: name,
    passed: faults.length === 0,
    durationMs: Math.round(durationMs),
    messages,
    deliveries,
    effects,
    lost,
    doubled: doubled.map(({ id, effects: shown, pairs }) => ({
      id,
      effects: shown.map(({ worker, delivery }) => `${worker}#${delivery}`),
      because: pairs.map(
        ({ cause, earlier, later }) => cause?.shownBy ?? `NO REASON: ${later} ran it although ${earlier} had`,
      ),
    })),
    explainedBy: countBy(
      doubled.flatMap(({ pairs }) => pairs.map(({ cause }) => cause?.rule ?? unexplained)),
    ),
    faults: inOrder.map(({ kind, fromMs, untilMs, worker, step }) => ({
      kind,
      fromMs: Math.round(fromMs - startMs),
      untilMs: Math.round(untilMs - startMs),
      ...(worker === undefined ? {} : { worker }),
      ...(step === undefined ? {} : { step }),
    })),
    faultCounts: countBy(injected.map(({ kind, step }) => (step === undefined ? kind : `${kind} ${step}`))),
    faultsNotReached: notReached,
    rowsPurged: purged,
    events,
    heapGrowthBytes: heapGrowth,
    problems: faults,
  };
}
