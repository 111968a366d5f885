import type { Scenario } from "../scenarios.ts";

/** A store that is broken on purpose, so that a run with it must fail. */
export const breakages = ["forgetful", "generous"] as const;
export type Breakage = (typeof breakages)[number];

/** Where the store is, for a worker. */
export type StoreAddress =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "redis"; readonly url: string }
  | { readonly kind: "redis-cluster"; readonly nodes: readonly { host: string; port: number }[] }
  | { readonly kind: "postgres"; readonly url: string };

/** Where the broker is, for a worker. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly queue: string;
}

/** What a worker process is started with. */
export interface WorkerConfig {
  readonly name: string;
  readonly scenario: Scenario;
  readonly store: StoreAddress;
  readonly broker: BrokerAddress;
  /** Of the Postgres that holds the ledger; the one with the marks, when they commit together. */
  readonly ledgerUrl: string;
  readonly logFile: string;
  readonly leaseMs: number;
  readonly breakage?: Breakage | undefined;
}

/** The longest that one call of the store may take, in milliseconds. */
export const storeTimeoutMs = 1_200;

/** How many deliveries a worker takes at the same time. */
export const deliveriesAtOnce = 8;

/** What the harness tells a worker. */
export type ToWorker =
  /** Wait at this step, with the next delivery that comes to it. */
  | { readonly do: "hold"; readonly step: string }
  /** Go on, and hold no more. */
  | { readonly do: "release" }
  /** Take nothing more, finish what is in flight, and end. */
  | { readonly do: "stop" };
