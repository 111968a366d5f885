import { createHash } from "node:crypto";
import { SeededRandom } from "@bq/idempotency-examples/src/log/random.ts";
import { allScenarios, nameOf, type Scenario } from "../scenarios.ts";
import { type Length, messagesOf, windowMsOf, workersOf } from "./length.ts";
import { planFaults } from "./plan-faults.ts";
import type { PlannedFault } from "./planned-fault.ts";
import { type PlannedMessage, planTraffic } from "./traffic.ts";

/** How long a claim holds without renewal, in milliseconds: short, so that leases do run out. */
export const leaseMs = 1_500;

/** Of three pairs of scenarios on RabbitMQ, one restarts it. */
const restartEvery = 3;

/** All that is decided beforehand about one scenario. */
export interface ScenarioPlan {
  readonly name: string;
  readonly scenario: Scenario;
  readonly workers: number;
  /** By how much the wall clock of each worker is off, such as `"+1d"`; empty: it is right. */
  readonly workerClocks: readonly string[];
  /** The same for the store's server. */
  readonly storeClock: string;
  readonly windowMs: number;
  readonly messages: readonly PlannedMessage[];
  readonly faults: readonly PlannedFault[];
}

export interface PlanTerms {
  readonly seed: number;
  readonly minutes: number;
  readonly scenarios: readonly Scenario[];
  /** Only these of the scenarios are run; their plans stay what they are in the whole run. */
  readonly chosen?: readonly Scenario[];
}

/** The plan of a run: the same for the same terms, on every machine. */
export function makePlan({ seed, minutes, scenarios, chosen = scenarios }: PlanTerms): ScenarioPlan[] {
  const length = { minutes, scenarios: scenarios.length };
  return chosen.map((scenario) => planScenario(seed, scenario, length));
}

function planScenario(seed: number, scenario: Scenario, length: Length): ScenarioPlan {
  const name = nameOf(scenario);
  const random = new SeededRandom(seedOf(seed, name));
  const workers = scenario.store === "memory" ? 1 : workersOf(length);
  const windowMs = windowMsOf(length);
  const index = allScenarios
    .filter(({ broker }) => broker === scenario.broker)
    .findIndex((each) => nameOf(each) === name);
  return {
    name,
    scenario,
    workers,
    workerClocks: Array.from({ length: workers }, () => workerClock(random, scenario)),
    storeClock: scenario.store === "postgres" ? random.pick(["+1d", "-1d", ""]) : "",
    windowMs,
    messages: planTraffic(random, { messages: messagesOf(length), windowMs, leaseMs }),
    faults: planFaults(random, {
      scenario,
      windowMs,
      workers,
      leaseMs,
      brokerRestart: (Math.floor(index / 2) + seed) % restartEvery === 0,
    }),
  };
}

/**
 * Which worker's clock is wrong. Not where the clock of the workers is the one that something is judged by: BullMQ delays its
 * jobs by it, and the leases in an SQLite file are those of its one machine.
 */
function workerClock(random: SeededRandom, { broker, store }: Scenario): string {
  const clock = random.pick(["", "+1d", "-1d", ""]);
  return broker === "bullmq" || store === "sqlite" ? "" : clock;
}

/** A stream of chance for each scenario, so that leaving out others does not change it. */
function seedOf(seed: number, name: string): number {
  return createHash("sha256").update(`${seed} ${name}`).digest().readUInt32BE();
}
