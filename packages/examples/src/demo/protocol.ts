/** What one delivery came to, as the observer of `wrap` tells it. */
export type Outcome = "ran" | "skipped" | "unidentified" | "failed";

/** From the broker to its worker. */
export type ToWorker =
  | {
      readonly type: "deliver";
      /** Names this hand-over in the answer. */
      readonly tag: number;
      readonly line: number;
      readonly text: string;
      /** The worker is to die once this delivery had its effect, before it is marked. */
      readonly dieAfterEffect: boolean;
    }
  | { readonly type: "stop" };

/** From the worker to its broker. */
export type FromWorker =
  | { readonly type: "ready" }
  /** The broker need not bring this delivery again. `problem` is what the store could not do. */
  | {
      readonly type: "settled";
      readonly tag: number;
      readonly outcome: Outcome;
      readonly problem?: string | undefined;
    };
