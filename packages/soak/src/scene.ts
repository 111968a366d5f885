import type { IdempotencyEvent } from "@bq/idempotency-core";
import type { Traffic } from "./traffic.ts";

/** Delivers some messages of the traffic, and resolves when all of them are settled. */
export type Deliver = (traffic: Traffic, deliveries: number) => Promise<void>;

/** A consumer that is watched for long: a wrapper on a store. */
export interface Scene {
  /** Such as `redis/wrapClaiming`. */
  readonly name: string;
  readonly backend: "memory" | "redis";
  /** How many deliveries the whole run makes. */
  readonly deliveries: number;
  open(place: Place): Promise<OpenScene>;
}

/** Where a scene works. */
export interface Place {
  /** The URL of an empty server, for a scene that needs one. */
  readonly url: string;
  /** How many deliveries this run makes. */
  readonly deliveries: number;
  /** Is told of every delivery. */
  readonly observe: (event: IdempotencyEvent) => void;
}

export interface OpenScene {
  readonly deliver: Deliver;
  close(): Promise<void>;
}

/** How a delivery can end, with how often it did. */
export type Outcomes = Record<"ran" | "skipped" | "parked" | "failed" | "unidentified", number>;

/** Counts what a wrapper tells of its deliveries. @throws Error for what must not happen here, such as a store that failed */
export function countOutcomes(): { outcomes: Outcomes; observe: (event: IdempotencyEvent) => void } {
  const outcomes: Outcomes = { ran: 0, skipped: 0, parked: 0, failed: 0, unidentified: 0 };
  const observe = (event: IdempotencyEvent) => {
    if (event.type in outcomes) outcomes[event.type as keyof Outcomes] += 1;
    else process.emitWarning(`An incident in the soak: ${event.type}`);
  };
  return { outcomes, observe };
}
