import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { faketime } from "@bq/idempotency-test-servers";
import type { BrokerUnderTest } from "./brokers/broker-under-test.ts";
import { nowMs } from "./clock.ts";
import { direct } from "./faults/director.ts";
import { FaultLog, type InjectedFault } from "./faults/fault-log.ts";
import { Fleet } from "./fleet/fleet.ts";
import { PurgerProcess } from "./fleet/purger-process.ts";
import type { Effect } from "./judge/evidence.ts";
import { judge, type Verdict } from "./judge/judge.ts";
import { createLedger, readLedger } from "./ledger.ts";
import { leaseMs, type ScenarioPlan } from "./plan/plan.ts";
import { produce, produceAgain } from "./producer.ts";
import { readSqliteLedger } from "./sqlite-ledger.ts";
import { watchForStalls } from "./stall-watch.ts";
import { startStore } from "./stores/start-store.ts";
import type { StoreUnderTest } from "./stores/store-under-test.ts";
import type { Breakage } from "./worker/config.ts";

/** What a scenario needs from the run that it is part of. */
export interface Surroundings {
  /** Its own folder. */
  readonly folder: string;
  /** An empty database on a Postgres that nothing happens to. */
  readonly ledgerUrl: string;
  readonly openBroker: () => Promise<BrokerUnderTest>;
  /** The store is to be broken in this way. */
  readonly breakage: Breakage | undefined;
}

/** What was done in a scenario, and what came of it. */
export interface ScenarioResult {
  readonly name: string;
  readonly durationMs: number;
  readonly injected: readonly InjectedFault[];
  /** Faults that no worker came to the step for in time. */
  readonly notReached: number;
  /** Expired rows that the purge deleted beside the workload. */
  readonly purged: number;
  readonly verdict: Verdict;
}

/** How long the deliveries may take to come to rest once everything is mended, in milliseconds. */
const drainLimitMs = 45_000;
const drainPollMs = 300;

/** Runs one scenario from the start of its servers to the verdict. */
export async function runScenario(plan: ScenarioPlan, around: Surroundings): Promise<ScenarioResult> {
  const startedAtMs = nowMs();
  await mkdir(around.folder, { recursive: true });
  await using store = await startStore(plan.scenario.store, {
    clock: plan.storeClock,
    folder: around.folder,
  });
  await using broker = await around.openBroker();
  const ledger = await openLedger(plan, around, store);
  const environments = await Promise.all(
    plan.workerClocks.map((clock) => (clock === "" ? {} : faketime(clock))),
  );
  const fleet = new Fleet({
    config: {
      scenario: plan.scenario,
      store: store.address,
      broker: broker.address,
      ledgerUrl: ledger.url,
      leaseMs,
      breakage: around.breakage,
    },
    folder: around.folder,
    environments,
  });
  const log = new FaultLog();
  const disorder: string[] = [];
  let purged = 0;
  const endWatch = watchForStalls((fromMs, untilMs) => log.stalled(fromMs, untilMs));
  try {
    await fleet.start();
    await using purger = new PurgerProcess(store.address);
    const startMs = nowMs();
    await Promise.all([
      produce(broker, plan.messages, startMs),
      direct(plan.faults, { fleet, store, broker, log, startMs }),
    ]);
    disorder.push(...(await drain(broker, fleet)));
    await produceAgain(broker, plan.messages);
    disorder.push(...(await drain(broker, fleet)));
    await fleet.stop();
    disorder.push(...(await remains(broker)));
    purged = purger.purged;
  } finally {
    endWatch();
    await fleet.kill();
  }
  const verdict = judge({
    scenario: plan.scenario,
    leaseMs,
    sent: plan.messages.map(({ id }) => id),
    effects: await ledger.read(),
    workers: fleet.histories(),
    ends: await fleet.ends(),
    faults: log.injected,
    disorder,
  });
  const { injected, notReached } = log;
  return { name: plan.name, durationMs: nowMs() - startedAtMs, injected, notReached, purged, verdict };
}

interface Ledger {
  readonly url: string;
  read(): Promise<Effect[]>;
}

/** The ledger lies in the store's own database when effect and mark are to commit together. */
async function openLedger(
  { scenario }: ScenarioPlan,
  { ledgerUrl }: Surroundings,
  { address, directUrl }: StoreUnderTest,
): Promise<Ledger> {
  const together = scenario.mode === "wrapTransactional";
  if (together && address.kind === "sqlite") {
    return { url: ledgerUrl, read: async () => readSqliteLedger(address.path) };
  }
  const url = (together ? directUrl : undefined) ?? ledgerUrl;
  await createLedger(url);
  return { url, read: () => readLedger(url) };
}

/** Waits until nothing is with the broker or a worker, twice in a row. */
async function drain(broker: BrokerUnderTest, fleet: Fleet): Promise<string[]> {
  const end = nowMs() + drainLimitMs;
  for (let quiet = 0; quiet < 2; ) {
    await pause(drainPollMs);
    const open = (await broker.backlog()) + fleet.inFlight;
    quiet = open === 0 ? quiet + 1 : 0;
    if (nowMs() > end)
      return [`${open} deliveries had not come to rest ${drainLimitMs / 1_000} s after the last fault`];
  }
  return [];
}

async function remains(broker: BrokerUnderTest): Promise<string[]> {
  const [left, givenUp] = [await broker.backlog(), await broker.givenUp()];
  return [
    ...(left > 0 ? [`${left} messages were still with the broker when the workers had ended`] : []),
    ...(givenUp > 0 ? [`the broker gave up ${givenUp} messages`] : []),
  ];
}
