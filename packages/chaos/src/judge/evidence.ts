import type { InjectedFault } from "../faults/fault-log.ts";
import { isStoreFaultKind } from "../plan/planned-fault.ts";
import type { Scenario } from "../scenarios.ts";
import type { WorkerHistory } from "./history.ts";

/** A row of the ledger: an effect that happened. */
export interface Effect {
  readonly id: string;
  readonly worker: string;
  readonly delivery: number;
  /** When its handler began, on the clock that all processes share. */
  readonly startedAtMs: number;
}

/** How a worker process came to its end. */
export interface WorkerEnd {
  readonly name: string;
  /** `"killed"` and `"stopped"` by the harness, `"crashed"` by itself; `"hung"`: it did not stop when it was told to. */
  readonly how: "killed" | "stopped" | "crashed" | "hung";
  readonly atMs: number;
  /** What it printed last, of one that crashed. */
  readonly lastWords?: string | undefined;
}

/** All that a scenario is judged by. */
export interface Evidence {
  readonly scenario: Scenario;
  readonly leaseMs: number;
  /** The ids of the messages that the broker has taken. */
  readonly sent: readonly string[];
  readonly effects: readonly Effect[];
  readonly workers: readonly WorkerHistory[];
  readonly ends: readonly WorkerEnd[];
  readonly faults: readonly InjectedFault[];
  /** What kept the scenario from ending in good order: a backlog that did not drain, a process that stayed. */
  readonly disorder: readonly string[];
}

/** After a fault of the store is mended, calls that ran into it may still fail, and connections are made again. */
const recoveryMs = 3_000;

/** Was the store, or the way to it, out of order at some time between the two? */
export function storeFaultBetween(
  faults: readonly InjectedFault[],
  fromMs: number,
  untilMs: number,
): InjectedFault | undefined {
  return faults.find(
    (fault) =>
      (isStoreFaultKind(fault.kind) || fault.kind === "harness-stalled") &&
      fault.fromMs <= untilMs &&
      fault.untilMs + recoveryMs >= fromMs,
  );
}
