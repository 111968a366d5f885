import { type ConfirmChannel, connect } from "amqplib";

/** A channel of its own connection, for the consumer of one queue. */
export interface OpenQueue {
  readonly channel: ConfirmChannel;
  /** Ends both. When they end otherwise, they end the process. */
  close(): Promise<void>;
}

/**
 * Connects, and declares the queue. When the connection or the channel is lost, the process ends: what it had not acknowledged
 * the broker gives to another worker, and the supervisor starts this one again.
 */
export async function openQueue(url: string, queue: string, prefetch: number): Promise<OpenQueue> {
  const connection = await connect(url);
  const channel = await connection.createConfirmChannel();
  let closing = false;
  const lost = () => {
    if (!closing) process.exit(1);
  };
  for (const part of [connection, channel]) {
    part.on("error", (error: Error) => console.error(error.message));
    part.once("close", lost);
  }
  await channel.prefetch(prefetch);
  await channel.assertQueue(queue, { arguments: { "x-queue-type": "quorum", "x-delivery-limit": 20 } });
  return {
    channel,
    async close() {
      closing = true;
      // Sends the acknowledgements that are still on their way.
      await channel.close();
      await connection.close();
    },
  };
}
