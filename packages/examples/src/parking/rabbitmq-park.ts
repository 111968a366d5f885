import type { ConfirmChannel, ConsumeMessage } from "amqplib";

/** A delivery waits for the shortest step that is long enough, else for the longest; then it may be parked again. */
const waitStepsMs = [1_000, 2_000, 5_000, 10_000, 30_000];

/** Resolves when the broker has confirmed that it holds the message in a wait queue: only then may the delivery be acknowledged. */
export async function park(
  channel: ConfirmChannel,
  queue: string,
  delivery: ConsumeMessage,
  delayMs: number,
): Promise<void> {
  const stepMs = waitStepsMs.find((step) => step >= delayMs) ?? Math.max(...waitStepsMs);
  const waitQueue = `${queue}.wait.${stepMs}`;
  // At once before publishing, for the broker also confirms, and drops, a message for a queue that does not exist.
  await channel.assertQueue(waitQueue, {
    arguments: {
      "x-queue-type": "quorum",
      "x-message-ttl": stepMs,
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": queue,
      // The wait queue lets go of a message only when the work queue has confirmed it. This needs the overflow setting.
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    },
  });
  // Left out: an expiration would end the wait early, and the broker refuses a message in another user's name.
  const { headers, expiration: _expiration, userId: _userId, ...properties } = delivery.properties;
  const redeliveries = headers?.["x-delivery-count"] ?? Number(delivery.fields.redelivered);
  const message = {
    ...properties,
    headers: {
      ...headers,
      // The broker starts to count anew; what it had counted is kept here.
      "x-redeliveries": (headers?.["x-redeliveries"] ?? 0) + redeliveries,
      "x-delivery-count": undefined,
      // A message that seems to have expired on the work queue before would be dropped on its way back, as one that circles.
      "x-death": undefined,
      "x-earlier-death": headers?.["x-earlier-death"] ?? headers?.["x-death"],
      // Would send further copies to the queues that it names.
      CC: undefined,
    },
  };
  await new Promise<void>((resolve, reject) => {
    const confirmed = (error: unknown) => (error ? reject(error) : resolve());
    channel.sendToQueue(waitQueue, delivery.content, message, confirmed);
  });
}
