import {
  type Awaitable,
  type ClaimContext,
  type ClaimingOptions,
  type ClaimingStore,
  wrapClaiming,
} from "@bq/idempotency-core";
import type { ConfirmChannel, ConsumeMessage } from "amqplib";
import { park } from "./rabbitmq-park.ts";
import { retryAfterMs } from "./retry-after.ts";

/**
 * Consumes a queue and runs the handler once per `meta.id` of the JSON bodies. A delivery that is parked, or that meets a
 * failing store, waits in a queue of its own and comes back with no delivery counted against it.
 */
export async function consumeParking(
  channel: ConfirmChannel,
  queue: string,
  store: ClaimingStore,
  handler: (delivery: ConsumeMessage, context: ClaimContext) => Awaitable<unknown>,
  options?: Omit<ClaimingOptions<ConsumeMessage>, "key">,
): Promise<void> {
  const key = (delivery: ConsumeMessage) => JSON.parse(delivery.content.toString()).meta.id;
  const run = wrapClaiming(store, handler, { ...options, key });
  // The broker hands out again what a closed channel had not acknowledged; its owner hears "close" and opens another.
  const giveUp = () => channel.close().catch(() => {});

  async function handle(delivery: ConsumeMessage): Promise<void> {
    try {
      await run(delivery);
    } catch (error) {
      const delayMs = retryAfterMs(error);
      // The handler's own failure: an attempt, and the delivery-limit of a quorum queue counts it.
      if (delayMs === undefined) return channel.nack(delivery);
      await park(channel, queue, delivery, delayMs);
    }
    channel.ack(delivery);
  }

  // Without a delivery it is word that the broker has cancelled the consumer.
  await channel.consume(queue, (delivery) => void (delivery ? handle(delivery).catch(giveUp) : giveUp()));
}
