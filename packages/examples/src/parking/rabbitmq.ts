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
 *
 * @returns takes no more deliveries, and resolves when those under way are settled
 */
export async function consumeParking(
  channel: ConfirmChannel,
  queue: string,
  store: ClaimingStore,
  handler: (delivery: ConsumeMessage, context: ClaimContext) => Awaitable<unknown>,
  options?: Omit<ClaimingOptions<ConsumeMessage>, "key">,
): Promise<() => Promise<void>> {
  const run = wrapClaiming(store, handler, { ...options, key: idOf });
  const underWay = new Set<Promise<void>>();
  // The broker hands out again what a closed channel had not acknowledged; its owner hears "close" and opens another.
  const giveUp = () => channel.close().catch(() => {});

  const { consumerTag } = await channel.consume(queue, (delivery) => {
    // Without a delivery it is word that the broker has cancelled the consumer.
    if (!delivery) return void giveUp();
    const settled = settle(channel, queue, delivery, run).catch(giveUp);
    underWay.add(settled);
    void settled.then(() => underWay.delete(settled));
  });
  return async () => {
    await channel.cancel(consumerTag);
    await Promise.all(underWay);
  };
}

/** The id of a delivery whose body is JSON. */
export function idOf(delivery: ConsumeMessage): string {
  return JSON.parse(delivery.content.toString()).meta.id;
}

/**
 * Processes a delivery and acknowledges it, parks it, or hands it back. Rejects when it could do none of these: then the
 * channel is to be closed.
 */
export async function settle(
  channel: ConfirmChannel,
  queue: string,
  delivery: ConsumeMessage,
  run: (delivery: ConsumeMessage) => Promise<unknown>,
): Promise<void> {
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
