import { setTimeout as pause } from "node:timers/promises";
import { park } from "@bq/idempotency-examples/src/parking/rabbitmq-park.ts";
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect } from "amqplib";
import { workQueueOptions } from "../brokers/rabbitmq-queues.ts";
import { type BrokerAddress, deliveriesAtOnce } from "./config.ts";
import type { Consumer } from "./consumer.ts";
import type { Deliveries, Outcome } from "./deliveries.ts";
import type { ChaosMessage } from "./message.ts";

const heartbeatSeconds = 2;
const pauseBeforeReconnectMs = 200;
const connectTimeoutMs = 2_000;

export async function consumeRabbitMq(address: BrokerAddress, deliveries: Deliveries): Promise<Consumer> {
  const consumer = new RabbitMqConsumer(address, deliveries);
  await consumer.start();
  return consumer;
}

/** Consumes over one connection after another, for as long as it is not stopped. */
class RabbitMqConsumer implements Consumer {
  readonly #address: BrokerAddress;
  readonly #deliveries: Deliveries;
  #current: { connection: ChannelModel; channel: ConfirmChannel; tag: string } | undefined;
  #stopping = false;

  constructor(address: BrokerAddress, deliveries: Deliveries) {
    this.#address = address;
    this.#deliveries = deliveries;
  }

  async start(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#open();
        return;
      } catch {
        await pause(pauseBeforeReconnectMs);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const current = this.#current;
    await current?.channel.cancel(current.tag).catch(() => {});
    while (this.#deliveries.inFlight > 0) await pause(20);
    await current?.connection.close().catch(() => {});
  }

  async #open(): Promise<void> {
    const { host, port, queue } = this.#address;
    const url = `amqp://guest:guest@${host}:${port}?heartbeat=${heartbeatSeconds}`;
    const connection = await connect(url, { timeout: connectTimeoutMs });
    connection.on("error", () => {});
    try {
      const channel = await connection.createConfirmChannel();
      channel.on("error", () => {});
      await channel.prefetch(deliveriesAtOnce);
      await channel.assertQueue(queue, workQueueOptions);
      const { consumerTag } = await channel.consume(queue, (message) => {
        // Without a message it is word that the broker has cancelled the consumer.
        if (message === null) void connection.close().catch(() => {});
        else void this.#handle(connection, channel, message);
      });
      this.#current = { connection, channel, tag: consumerTag };
      channel.on("close", () => void connection.close().catch(() => {}));
    } catch (error) {
      void connection.close().catch(() => {});
      throw error;
    }
    connection.on("close", () => {
      this.#current = undefined;
      void pause(pauseBeforeReconnectMs).then(() => this.start());
    });
  }

  async #handle(connection: ChannelModel, channel: ConfirmChannel, delivery: ConsumeMessage): Promise<void> {
    const message = JSON.parse(delivery.content.toString()) as ChaosMessage;
    const first =
      !delivery.fields.redelivered && delivery.properties.headers?.["x-redeliveries"] === undefined;
    const settle = async (outcome: Outcome) => {
      if (outcome.tell === "retry") return channel.nack(delivery);
      if (outcome.tell === "park") await park(channel, this.#address.queue, delivery, outcome.delayMs);
      channel.ack(delivery);
    };
    try {
      await this.#deliveries.take(message, first, settle);
    } catch {
      // The broker hands out again what a closed connection had not acknowledged.
      void connection.close().catch(() => {});
    }
  }
}
