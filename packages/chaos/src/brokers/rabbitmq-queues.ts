import type { Channel, Options } from "amqplib";

/** A durable queue that brings a message again as often as it takes: here nothing may end among dead letters. */
export const workQueueOptions: Options.AssertQueue = {
  durable: true,
  arguments: { "x-queue-type": "quorum", "x-delivery-limit": 1_000_000 },
};

/** The waits that come up here: what is left of a lease, or the pause after a failure of the store. */
const waitsMs = [1_000, 2_000];

/** The work queue, and those in which parked messages wait. */
export function queuesOf(queue: string): string[] {
  return [queue, ...waitsMs.map((waitMs) => `${queue}.wait.${waitMs}`)];
}

/**
 * Declares all of them before anything fails. The consumers declare the wait queues themselves, with these very arguments, or
 * the broker would refuse; but a broker that is killed may forget a queue that was declared the moment before, and what is in it.
 */
export async function declareQueues(channel: Channel, queue: string): Promise<void> {
  await channel.assertQueue(queue, workQueueOptions);
  for (const waitMs of waitsMs) {
    await channel.assertQueue(`${queue}.wait.${waitMs}`, {
      arguments: {
        "x-queue-type": "quorum",
        "x-message-ttl": waitMs,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": queue,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
      },
    });
  }
}
