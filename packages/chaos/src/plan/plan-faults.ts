import type { SeededRandom } from "@bq/idempotency-examples/src/log/random.ts";
import type { BrokerName, Scenario, StoreName } from "../scenarios.ts";
import type {
  BrokerFaultKind,
  PlannedFault,
  ServerFault,
  StoreFaultKind,
  WorkerFault,
} from "./planned-fault.ts";
import { type Step, steps } from "./steps.ts";

export interface FaultTerms {
  readonly scenario: Scenario;
  readonly windowMs: number;
  readonly workers: number;
  readonly leaseMs: number;
  /** RabbitMQ takes long to start again, so that not every scenario can afford it. */
  readonly brokerRestart: boolean;
}

/** What each store can suffer again and again. One in the memory of the worker suffers what the worker does. */
const storeFaults: Record<StoreName, readonly StoreFaultKind[]> = {
  memory: [],
  sqlite: ["store-lock"],
  redis: ["store-kill", "store-black-hole", "store-restart", "store-cut"],
  "redis-cluster": ["store-cut", "store-black-hole"],
  postgres: ["store-kill", "store-black-hole", "store-restart", "store-cut"],
};

const brokerFaults: Record<BrokerName, readonly BrokerFaultKind[]> = {
  bullmq: ["broker-restart", "broker-cut"],
  rabbitmq: ["broker-cut"],
};

/** Longer than the time limit of a store's call, so that calls do run into it. */
const lastsMs: Record<ServerFault["kind"], readonly [least: number, most: number]> = {
  "store-kill": [200, 800],
  "store-restart": [0, 0],
  "store-cut": [100, 600],
  "store-black-hole": [1_300, 2_000],
  // How long the replica lags behind at the kill.
  "store-failover": [300, 600],
  "store-lock": [600, 2_600],
  "broker-cut": [0, 0],
  "broker-restart": [0, 0],
};

/** Nothing happens before: the workers are only just at work. */
const quietMs = 500;
const millisecondsPerWorkerFault = 800;
const millisecondsPerServerFault = 2_200;

/** Plans what fails in a scenario and when, in the order of time. */
export function planFaults(random: SeededRandom, terms: FaultTerms): PlannedFault[] {
  const faults = [...planWorkerFaults(random, terms), ...planServerFaults(random, terms)];
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function planWorkerFaults(random: SeededRandom, terms: FaultTerms): WorkerFault[] {
  const { scenario, windowMs, workers, leaseMs } = terms;
  const alone = scenario.store === "memory";
  const suspend = (step: Step) => ({ kind: "suspend" as const, step });
  const kill = (step: Step | "anywhere") => ({ kind: "kill" as const, step });
  const suspensions = [suspend("in-handler"), suspend("between-effect-and-mark")];
  // With the process that holds it in memory, the store would go.
  const choices = alone ? suspensions : [...steps.map(kill), kill("anywhere"), ...suspensions];
  const count = Math.max(2, Math.round(windowMs / (alone ? 3 : 1) / millisecondsPerWorkerFault));
  const times = spread(count, windowMs);
  return inRounds(random, choices, count).map((choice, index): WorkerFault => {
    const where = { atMs: times[index] ?? 0, worker: random.below(workers) };
    if (choice.kind === "kill") return { ...where, ...choice };
    return { ...where, ...choice, forMs: leaseMs + random.between(300, 2_500) };
  });
}

function planServerFaults(
  random: SeededRandom,
  { scenario, windowMs, brokerRestart }: FaultTerms,
): ServerFault[] {
  // A restart of RabbitMQ takes long, and after a failover there is no replica left that could take over.
  const once: ServerFault["kind"][] = [
    ...(scenario.store === "redis-cluster" ? (["store-failover"] as const) : []),
    ...(brokerRestart && scenario.broker === "rabbitmq" ? (["broker-restart"] as const) : []),
  ];
  const often = [...storeFaults[scenario.store], ...brokerFaults[scenario.broker]];
  const count = Math.max(2, Math.round(windowMs / millisecondsPerServerFault));
  const kinds = shuffled(random, [...once, ...inRounds(random, often, count - once.length)]);
  const times = spread(kinds.length, windowMs);
  return kinds.map((kind, index): ServerFault => {
    const [least, most] = lastsMs[kind];
    return { atMs: times[index] ?? 0, kind, forMs: random.between(least, most) };
  });
}

/** Times at equal distances over the window. */
function spread(count: number, windowMs: number): number[] {
  const length = windowMs - quietMs;
  return Array.from({ length: count }, (_, index) => Math.round(quietMs + (length * index) / count));
}

/** Every choice once, in an order of chance, before any comes again. */
function inRounds<T>(random: SeededRandom, choices: readonly T[], count: number): T[] {
  const rounds = Array.from({ length: Math.ceil(count / choices.length) }, () => shuffled(random, choices));
  return rounds.flat().slice(0, count);
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.below(rest.length), 1)[0] as T);
}
