import {
  type PostgresServer,
  type RabbitMqServer,
  startPostgres,
  startRabbitMq,
} from "@bq/idempotency-test-servers";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Order } from "../src/consumers/orders.ts";
import { ConsumerProcess, charges } from "./consumer-process.ts";
import { orderMessage } from "./order-message.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let rabbitMq: RabbitMqServer;
let postgres: PostgresServer;
let connection: ChannelModel;
let channel: ConfirmChannel;
let queue: string;

beforeAll(async () => {
  [rabbitMq, postgres] = await Promise.all([startRabbitMq(), startPostgres()]);
  connection = await connect(rabbitMq.url);
  channel = await connection.createConfirmChannel();
});

afterAll(async () => {
  await connection.close();
  await Promise.all([rabbitMq.stop(), postgres.stop()]);
});

beforeEach(({ task }) => {
  queue = `orders-${task.id}`;
});

function start(name: string): Promise<ConsumerProcess> {
  const environment = {
    RABBITMQ_URL: rabbitMq.url,
    POSTGRES_URL: postgres.url,
    QUEUE: queue,
    LEASE_MS: "4000",
  };
  return ConsumerProcess.ready(name, environment);
}

async function publish(id: string, order: Order): Promise<void> {
  channel.sendToQueue(queue, Buffer.from(JSON.stringify(orderMessage(id, order))), { persistent: true });
  await channel.waitForConfirms();
}

const ready = async (name: string) => (await channel.checkQueue(name)).messageCount;

describe.each(["rabbitmq-consumer", "batch-consumer"])("%s", (name) => {
  test("of two deliveries of one order at once one is parked and comes back, and the order is charged once", async () => {
    const consumer = await start(name);
    await publish(`${name} a`, { order: "twice", takesMs: 1_500 });
    await publish(`${name} a`, { order: "twice", takesMs: 1_500 });
    await publish(`${name} b`, { order: "once" });
    await consumer.until("skipped");
    expect(charges(consumer)).toEqual({ twice: 1, once: 1 });
    expect(consumer.count("parked")).toBeGreaterThanOrEqual(1);

    // What it had not acknowledged would go back to its queue now.
    expect(await consumer.end("SIGTERM")).toBe(0);
    expect([await ready(queue), await ready(`${queue}.wait.5000`)]).toEqual([0, 0]);
  });

  test("asked to end, it charges what it has begun, acknowledges it, and takes nothing more", async () => {
    const consumer = await start(name);
    await publish(`${name} c`, { order: "begun", takesMs: 2_000 });
    await expect.poll(() => ready(queue), { timeout: 60_000 }).toBe(0);
    const ended = consumer.end("SIGTERM");
    await consumer.until("charged begun");
    await publish(`${name} d`, { order: "later" });
    expect(await ended).toBe(0);
    expect(charges(consumer)).toEqual({ begun: 1 });
    expect(await ready(queue)).toBe(1);
  });
});

test("the batch consumer takes what has gathered as one batch", async () => {
  const consumer = await start("batch-consumer");
  const orders = Array.from({ length: 100 }, (_, number) => `order ${number}`);
  for (const order of orders)
    channel.sendToQueue(queue, Buffer.from(JSON.stringify(orderMessage(`batch ${order}`, { order }))));
  await channel.waitForConfirms();
  await consumer.until("ran", 100);
  expect(charges(consumer)).toEqual(Object.fromEntries(orders.map((order) => [order, 1])));
  expect(consumer.lines.filter((line) => line.startsWith("batch of")).length).toBeLessThan(50);
});
