import type { Step } from "./steps.ts";

/** What is done to one worker. */
export type WorkerFault =
  /** SIGKILL at a step, or wherever the worker happens to be. */
  | {
      readonly atMs: number;
      readonly kind: "kill";
      readonly worker: number;
      readonly step: Step | "anywhere";
    }
  /** SIGSTOP at a step, for longer than the lease; then SIGCONT. */
  | {
      readonly atMs: number;
      readonly kind: "suspend";
      readonly worker: number;
      readonly step: Step;
      readonly forMs: number;
    };

const storeFaultKinds = [
  /** kill -9, and a restart after a while. */
  "store-kill",
  /** An orderly stop, and a start. */
  "store-restart",
  /** All connections are reset, and none is taken for a while. */
  "store-cut",
  /** Connections stay open, and nothing is answered for a while. */
  "store-black-hole",
  /** A master of the cluster is killed, and its replica, which lags behind, takes over. */
  "store-failover",
  /** Another program holds the write lock of the file for a while. */
  "store-lock",
] as const;

const brokerFaultKinds = [
  /** All connections of the workers are reset. */
  "broker-cut",
  /** kill -9, and a restart. */
  "broker-restart",
] as const;

export type StoreFaultKind = (typeof storeFaultKinds)[number];
export type BrokerFaultKind = (typeof brokerFaultKinds)[number];

/** What is done to a server or to the network in front of it. */
export interface ServerFault {
  readonly atMs: number;
  readonly kind: StoreFaultKind | BrokerFaultKind;
  /** How long it lasts, where it lasts. */
  readonly forMs: number;
}

export type PlannedFault = WorkerFault | ServerFault;

export function isWorkerFault(fault: PlannedFault): fault is WorkerFault {
  return fault.kind === "kill" || fault.kind === "suspend";
}

export function isStoreFaultKind(kind: string): kind is StoreFaultKind {
  return (storeFaultKinds as readonly string[]).includes(kind);
}
