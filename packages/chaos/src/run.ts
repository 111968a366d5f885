import { join } from "node:path";
import { type PostgresServer, startPostgres, startRabbitMq } from "@bq/idempotency-test-servers";
import type { ChaosArguments } from "./arguments.ts";
import type { BrokerUnderTest } from "./brokers/broker-under-test.ts";
import { startBullMq } from "./brokers/bullmq.ts";
import { openRabbitMq } from "./brokers/rabbitmq.ts";
import { nowMs } from "./clock.ts";
import { findLeftovers, markProcesses } from "./leftovers.ts";
import { leaseMs, makePlan, type ScenarioPlan } from "./plan/plan.ts";
import { type RunReport, reportOf } from "./report/report.ts";
import { makeRunFolder } from "./run-folder.ts";
import { runScenario, type ScenarioResult } from "./scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { within } from "./within.ts";

export interface RunTerms
  extends Pick<ChaosArguments, "breakage" | "chosen" | "logs" | "minutes" | "scenarios" | "seed"> {
  /** Is told of each scenario when it is over. */
  readonly onDone: (result: ScenarioResult) => void;
}

/**
 * Runs the scenarios in two lanes side by side, one for each broker, for most of the time of a scenario is spent waiting for
 * leases and time limits.
 */
export async function run(terms: RunTerms): Promise<RunReport> {
  const startedAtMs = nowMs();
  const mark = markProcesses();
  const plans = makePlan(terms);
  const folder = makeRunFolder(terms.logs);
  // Workers are started many times: what the first one has compiled, the others load.
  process.env.NODE_COMPILE_CACHE ??= join(folder, "compiled");
  const results = await runLanes(plans, terms, folder);
  const inOrder = plans.flatMap(({ name }) => results.filter((result) => result.name === name));
  return reportOf(terms, inOrder, {
    durationMs: nowMs() - startedAtMs,
    leftovers: await findLeftovers(mark),
    leaseMs,
  });
}

/** A scenario takes its window, a minute and a half until it has drained twice, and the starts; more than this, and it hangs. */
const hangsAfterMs = 300_000;

async function runLanes(
  plans: readonly ScenarioPlan[],
  terms: RunTerms,
  folder: string,
): Promise<ScenarioResult[]> {
  await using ledgers = await startPostgres();
  const lane = { terms, folder, ledgers };
  const results = await Promise.all([
    runLane(plans.filter(on("bullmq")), lane, () => startBullMq()),
    runRabbitMqLane(plans.filter(on("rabbitmq")), lane),
  ]);
  return results.flat();
}

interface Lane {
  readonly terms: RunTerms;
  readonly folder: string;
  readonly ledgers: PostgresServer;
}

async function runRabbitMqLane(plans: readonly ScenarioPlan[], lane: Lane): Promise<ScenarioResult[]> {
  if (plans.length === 0) return [];
  await using server = await startRabbitMq();
  return await runLane(plans, lane, (name) => openRabbitMq(server, name));
}

async function runLane(
  plans: readonly ScenarioPlan[],
  { terms, folder, ledgers }: Lane,
  openBroker: (name: string) => Promise<BrokerUnderTest>,
): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const plan of plans) {
    const name = plan.name.replaceAll("/", ".");
    const running = runScenario(plan, {
      folder: join(folder, name),
      ledgerUrl: await ledgers.createDatabase(),
      openBroker: () => openBroker(name),
      breakage: terms.breakage,
    });
    const result = await within(plan.windowMs + hangsAfterMs, running).catch((cause: unknown) => {
      throw new Error(`${plan.name} did not come to a verdict.`, { cause });
    });
    terms.onDone(result);
    results.push(result);
  }
  return results;
}

function on(broker: Scenario["broker"]): (plan: ScenarioPlan) => boolean {
  return ({ scenario }) => scenario.broker === broker;
}
