import { DelayedError, type Job, Worker } from "bullmq";
import { type BrokerAddress, deliveriesAtOnce } from "./config.ts";
import type { Consumer } from "./consumer.ts";
import type { Deliveries } from "./deliveries.ts";
import type { ChaosMessage } from "./message.ts";

/** A job whose worker died, or was suspended, comes again after about this many milliseconds. */
const lockDurationMs = 2_000;
const stalledCheckMs = 1_000;

export async function consumeBullMq(
  { host, port, queue }: BrokerAddress,
  deliveries: Deliveries,
): Promise<Consumer> {
  const processor = async (job: Job<ChaosMessage>, token?: string) => {
    const first = job.attemptsMade === 0 && job.attemptsStarted <= 1;
    const outcome = await deliveries.take(job.data, first, async (told) => {
      if (told.tell === "park") await job.moveToDelayed(Date.now() + told.delayMs, token);
    });
    // Tells the worker that the job is neither completed nor failed.
    if (outcome.tell === "park") throw new DelayedError();
    if (outcome.tell === "retry") throw outcome.error;
  };
  const worker = new Worker<ChaosMessage>(queue, processor, {
    connection: { host, port, maxRetriesPerRequest: null, retryStrategy: () => 100 },
    concurrency: deliveriesAtOnce,
    lockDuration: lockDurationMs,
    stalledInterval: stalledCheckMs,
    // Workers die here all the time; by default a job is given up when that happens to it twice.
    maxStalledCount: 1_000_000,
    drainDelay: 1,
    removeOnComplete: { count: 0 },
  });
  // A lost connection comes back by itself, and whose job was lost meanwhile comes again.
  worker.on("error", () => {});
  await worker.waitUntilReady();
  return { stop: () => worker.close() };
}
