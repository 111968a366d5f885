import type { IdempotencyEvent } from "@bq/idempotency-core";
import type { Step } from "../plan/steps.ts";

/** What became of a delivery, as the consumer is about to tell the broker. */
export type Settlement = "ack" | "park" | "retry" | "lost-connection";

/**
 * One thing that a worker writes down, at the moment it happens. `atMs` is on the clock that all processes share; `delivery`
 * is the worker's own number for one hand-over of a message.
 */
export type LogLine = { readonly atMs: number } & (
  | { readonly type: "ready" }
  /** The broker handed over a message. */
  | { readonly type: "received"; readonly delivery: number; readonly id: string }
  /** The wrapped handler is called: no sooner is the store asked. */
  | { readonly type: "asking"; readonly delivery: number }
  /** The handler itself has begun. */
  | { readonly type: "handling"; readonly delivery: number }
  /** The effect was acknowledged by the ledger. */
  | { readonly type: "effect"; readonly delivery: number }
  /** The library told its observer. */
  | {
      readonly type: "event";
      readonly delivery: number;
      readonly event: IdempotencyEvent["type"];
      readonly error?: string;
    }
  /** The wrapped handler resolved: no later was the mark written. */
  | { readonly type: "returned"; readonly delivery: number }
  | { readonly type: "threw"; readonly delivery: number; readonly code: string; readonly error: string }
  | { readonly type: "settled"; readonly delivery: number; readonly how: Settlement }
  /** Waits at a step, as it was told to, for what the harness does to it there. */
  | { readonly type: "held"; readonly delivery: number; readonly step: Step }
  /** The process did nothing since `sinceMs`, because it was suspended or got no processor. */
  | { readonly type: "stalled"; readonly sinceMs: number }
  | { readonly type: "alive"; readonly inFlight: number; readonly heapBytes: number }
  /** Must never be written: a rejection or an error that nobody caught. */
  | { readonly type: "unhandled"; readonly error: string }
);
