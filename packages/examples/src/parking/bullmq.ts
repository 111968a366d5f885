import {
  type Awaitable,
  type ClaimContext,
  type ClaimingOptions,
  type ClaimingStore,
  type Message,
  wrapClaiming,
} from "@bq/idempotency-core";
import { DelayedError, type Job, type Processor } from "bullmq";
import { retryAfterMs } from "./retry-after.ts";

/**
 * Makes a BullMQ processor that runs the handler once per `meta.id` of the jobs' data. A job that is parked, or that meets a
 * failing store, is delayed and comes back with as many attempts left as it had.
 *
 * @example
 * new Worker("orders", parkingProcessor(store, async (job, { signal }) => charge(job.data, signal)), { connection });
 */
export function parkingProcessor<Data extends Message, Result>(
  store: ClaimingStore,
  handler: (job: Job<Data>, context: ClaimContext) => Awaitable<Result>,
  options?: Omit<ClaimingOptions<Job<Data>>, "key">,
): Processor<Data, Result | undefined> {
  const key = (job: Job<Data>) => job.data.meta?.id as string;
  const run = wrapClaiming(store, handler, { ...options, key });

  return async (job, token) => {
    try {
      return await run(job);
    } catch (error) {
      const delayMs = retryAfterMs(error);
      if (delayMs === undefined) throw error;
      await job.moveToDelayed(Date.now() + delayMs, token);
      // Tells the worker that the job is neither completed nor failed.
      throw new DelayedError();
    }
  };
}
