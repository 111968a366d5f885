import { setTimeout as pause } from "node:timers/promises";
import type { BrokerUnderTest } from "../brokers/broker-under-test.ts";
import { nowMs } from "../clock.ts";
import type { Fleet } from "../fleet/fleet.ts";
import {
  isStoreFaultKind,
  isWorkerFault,
  type PlannedFault,
  type ServerFault,
  type WorkerFault,
} from "../plan/planned-fault.ts";
import type { StoreUnderTest } from "../stores/store-under-test.ts";
import type { FaultLog } from "./fault-log.ts";

/** How long a worker has to come to the step at which it is to be hit, in milliseconds. */
const reachLimitMs = 6_000;
/** After a fault of a server, deliveries get through again for at least this long, in milliseconds. */
const calmMs = 800;

export interface Stage {
  readonly fleet: Fleet;
  readonly store: StoreUnderTest;
  readonly broker: BrokerUnderTest;
  readonly log: FaultLog;
  readonly startMs: number;
}

/**
 * Does to a scenario what is planned; resolves when all is mended and every worker that was killed is replaced. Workers are
 * hit side by side. Of the servers one thing at a time is out of order, and the two run on beside each other.
 */
export async function direct(faults: readonly PlannedFault[], stage: Stage): Promise<void> {
  const onWorkers = faults.filter(isWorkerFault).map(async (fault) => {
    await until(stage.startMs + fault.atMs);
    await hitWorker(fault, stage);
  });
  await Promise.all([...onWorkers, hitServers(faults, stage)]);
}

async function hitServers(faults: readonly PlannedFault[], stage: Stage): Promise<void> {
  for (const fault of faults) {
    if (isWorkerFault(fault)) continue;
    await until(stage.startMs + fault.atMs);
    await hitServer(fault, stage);
    await pause(calmMs);
  }
}

async function hitServer({ kind, forMs }: ServerFault, { store, broker, log }: Stage): Promise<void> {
  if (!isStoreFaultKind(kind)) {
    await log.during({ kind }, async () => {
      await broker.injure[kind]();
      return undefined;
    });
    return;
  }
  const injure = store.injure[kind];
  if (injure === undefined) throw new Error(`This store cannot suffer ${kind}.`);
  await log.during({ kind }, () => injure(forMs));
}

async function hitWorker(fault: WorkerFault, { fleet, log }: Stage): Promise<void> {
  const worker = fleet.at(fault.worker);
  const anywhere = fault.step === "anywhere";
  if (worker === undefined || worker.gone || !(anywhere || (await worker.hold(fault.step, reachLimitMs)))) {
    log.notReached += 1;
    return;
  }
  await log.during({ kind: fault.kind, worker: worker.name, step: fault.step }, async () => {
    await (fault.kind === "kill" ? worker.kill() : worker.suspend(fault.forMs));
    return undefined;
  });
  worker.release();
  if (fault.kind === "kill") await fleet.replace(fault.worker);
}

async function until(timeMs: number): Promise<void> {
  const waitMs = timeMs - nowMs();
  if (waitMs > 0) await pause(waitMs);
}
