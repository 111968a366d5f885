import { setImmediate as turn } from "node:timers/promises";
import {
  type BatchStore,
  type ClaimContext,
  type ClaimingStore,
  isIdempotencyError,
  type Store,
  type WrapOptions,
  wrap,
  wrapBatch,
  wrapClaiming,
} from "@bq/idempotency-core";
import type { Deliver } from "./scene.ts";
import type { Load } from "./traffic.ts";

const declined = new Error("declined");
const batchSize = 100;

function process(load: Load): void {
  if (load.fails) throw declined;
}

/** A handler takes a turn of the event loop now and then, so that deliveries overlap as they do in a consumer. */
async function processLater(load: Load): Promise<void> {
  await turn();
  process(load);
}

type Options = Pick<WrapOptions<Load>, "observe">;

/** `wrap`, with so many deliveries under way at a time. */
export function seenSet(store: Store, options: Options, concurrency: number): Deliver {
  return together(wrap(store, process, options), concurrency);
}

/** `wrapClaiming`, with so many deliveries under way at a time; those whose id is in flight are parked. */
export function claiming(store: ClaimingStore, options: Options, concurrency: number): Deliver {
  const handler = (load: Load, { signal }: ClaimContext) => {
    // A signal that is used is made, and must go with its delivery.
    signal.addEventListener("abort", () => {}, { once: true });
    return processLater(load);
  };
  return together(wrapClaiming(store, handler, options), concurrency);
}

/** `wrapBatch`, batch after batch. */
export function batches(store: BatchStore, options: Options): Deliver {
  const run = wrapBatch(store, process, options);
  return async (traffic, deliveries) => {
    for (let left = deliveries; left > 0; left -= batchSize) {
      const size = Math.min(batchSize, left);
      for (const { outcome, error } of await run(Array.from({ length: size }, () => traffic.next()))) {
        if (outcome === "failed") expected(error);
      }
    }
  };
}

function together(run: (load: Load) => Promise<void>, concurrency: number): Deliver {
  return async (traffic, deliveries) => {
    let left = deliveries;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        await run(traffic.next()).catch(expected);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };
}

/** Only the handler's own failure and parking are part of the traffic. */
function expected(error: unknown): void {
  if (error !== declined && !(isIdempotencyError(error) && error.code === "BQ_CLAIM_PARKED")) throw error;
}
