import { once } from "node:events";
import { InMemoryStore } from "@bq/idempotency-core";
import { RedisStore } from "@bq/idempotency-redis";
import { type RabbitMqServer, startRabbitMq, startRedis } from "@bq/idempotency-test-servers";
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect, type Options } from "amqplib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { consumeParking } from "../src/parking/rabbitmq.ts";
import { HeldEffect, leaseMs, Observed } from "./parking-scene.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: RabbitMqServer;
let connection: ChannelModel;
let channel: ConfirmChannel;
let queue: string;
let observed: Observed;

beforeAll(async () => {
  server = await startRabbitMq();
});

afterAll(() => server.stop());

beforeEach(async ({ task }) => {
  observed = new Observed();
  queue = `work-${task.id}`;
  connection = await connect(server.url);
  channel = await connection.createConfirmChannel();
  await channel.assertQueue(deadLetters());
});

afterEach(() => connection.close());

const deadLetters = () => `${queue}.dead`;

/** A quorum queue that dead-letters a message which is handed back more often than that. */
async function declareQueue(deliveryLimit: number): Promise<void> {
  await channel.assertQueue(queue, {
    arguments: {
      "x-queue-type": "quorum",
      "x-delivery-limit": deliveryLimit,
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": deadLetters(),
    },
  });
}

async function publish(id: string, properties?: Options.Publish): Promise<void> {
  const body = Buffer.from(JSON.stringify({ meta: { id } }));
  channel.sendToQueue(queue, body, { persistent: true, ...properties });
  await channel.waitForConfirms();
}

/** A channel for a consumer that takes one delivery at a time. */
async function consumerChannel(): Promise<ConfirmChannel> {
  const consumer = await connection.createConfirmChannel();
  await consumer.prefetch(1);
  return consumer;
}

async function messagesIn(name: string): Promise<number> {
  return (await channel.checkQueue(name)).messageCount;
}

test("of two deliveries of one id at once one waits, comes back, and is skipped, without a delivery counted", async () => {
  await declareQueue(0);
  const store = new InMemoryStore();
  const effect = new HeldEffect();
  const consumers = [await consumerChannel(), await consumerChannel()];
  for (const consumer of consumers) {
    const { observe } = observed;
    await consumeParking(consumer, queue, store, effect.happen, { leaseMs, observe });
  }
  await publish("twice");
  await publish("twice");
  await observed.until("parked", 2);
  effect.letGo();
  await observed.until("skipped");

  expect(effect.count).toBe(1);
  expect(observed.types.slice(-2)).toEqual(["ran", "skipped"]);
  observed.expectDelaysKept();
  // What was not acknowledged would go back to its queue now, and on to the dead letters.
  await Promise.all(consumers.map((consumer) => consumer.close()));
  for (const name of [queue, `${queue}.wait.5000`, deadLetters()]) expect(await messagesIn(name)).toBe(0);
});

test("a delivery that meets a store out of reach comes back as it was, and is processed when the store is back", async () => {
  await declareQueue(0);
  await using redis = await startRedis({ persistent: true });
  await using store = await RedisStore.connect(redis.url, { commandTimeoutMs: 500 });
  const processed: ConsumeMessage[] = [];
  await redis.kill();
  const { observe } = observed;
  await consumeParking(channel, queue, store, (delivery) => processed.push(delivery), { observe });
  const properties = {
    appId: "shop",
    contentEncoding: "utf-8",
    contentType: "application/json",
    correlationId: "c-1",
    messageId: "m-1",
    priority: 3,
    replyTo: "answers",
    timestamp: 1_700_000_000,
    type: "order",
  };
  const death = { queue, reason: "expired", count: 1, exchange: "", "routing-keys": [queue] };
  await publish("later", {
    ...properties,
    headers: { tenant: "a", "x-death": [death] },
    expiration: 800,
  });
  await observed.until("store-failed", 2);
  const [first, second] = observed.events.filter(({ event }) => event.type === "store-failed");
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(999);
  expect(processed).toEqual([]);
  await redis.restart();
  await observed.until("ran");

  const [delivery] = processed;
  expect(processed).toHaveLength(1);
  expect(delivery?.fields.redelivered).toBe(false);
  expect(delivery?.properties).toMatchObject({ ...properties, deliveryMode: 2, expiration: undefined });
  expect(delivery?.properties.headers).toMatchObject({
    tenant: "a",
    "x-redeliveries": 0,
    "x-earlier-death": [{ queue, reason: "expired" }],
  });
  expect(await messagesIn(deadLetters())).toBe(0);
});

test("a parked delivery keeps in a header how often its message was redelivered before, and is not copied", async () => {
  await declareQueue(5);
  const store = new InMemoryStore();
  // A worker that died: its delivery went back to the queue, its claim still holds.
  store.claim("crashed", 500);
  const copies = `${queue}.copies`;
  await channel.assertQueue(copies);
  await publish("crashed", { CC: copies });
  await expect
    .poll(async () => {
      const delivery = await channel.get(queue);
      if (delivery) channel.nack(delivery);
      return delivery !== false;
    })
    .toBe(true);
  const processed: ConsumeMessage[] = [];
  await consumeParking(channel, queue, store, (delivery) => processed.push(delivery), {
    observe: observed.observe,
  });
  await observed.until("ran");
  expect(observed.types).toEqual(["parked", "ran"]);
  expect(processed[0]?.fields.redelivered).toBe(false);
  expect(processed[0]?.properties.headers).toMatchObject({ "x-redeliveries": 1 });
  expect(processed[0]?.properties.headers).not.toHaveProperty("x-delivery-count");
  // The one that the publisher asked for.
  expect(await messagesIn(copies)).toBe(1);
});

test("a handler that throws uses up a delivery", async () => {
  await declareQueue(1);
  const handler = () => {
    throw new Error("The card was declined");
  };
  await consumeParking(channel, queue, new InMemoryStore(), handler, { observe: observed.observe });
  await publish("declined");
  await expect.poll(() => messagesIn(deadLetters()), { timeout: 60_000 }).toBe(1);
  expect(observed.types).toEqual(["failed", "failed"]);
});

test("a delivery that cannot be parked goes back to its queue with the channel, whose owner hears of it", async () => {
  await declareQueue(5);
  const store = new InMemoryStore();
  store.claim("stays", 500);
  // Of another kind than the one that the consumer is about to declare.
  await channel.assertQueue(`${queue}.wait.1000`);
  const consumer = await consumerChannel();
  const told = once(consumer, "error");
  const closed = new Promise((resolve) => consumer.once("close", resolve));
  await consumeParking(consumer, queue, store, () => {}, { observe: observed.observe });
  await publish("stays");
  expect(String(await told)).toMatch(/PRECONDITION_FAILED/);
  await closed;
  await expect.poll(() => messagesIn(queue), { timeout: 60_000 }).toBe(1);
});
