import { setTimeout as pause } from "node:timers/promises";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import { within } from "../within.ts";
import type { ChaosMessage } from "../worker/message.ts";
import { declareQueues, queuesOf } from "./rabbitmq-queues.ts";

const pauseBeforeRetryMs = 100;
const connectTimeoutMs = 2_000;
/** Behind a broker that was killed, an answer may never come; and a queue that it forgot never comes back. */
const attemptMs = 10_000;
const patienceMs = 60_000;

interface Open {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
}

/** Sends to a queue until the broker has confirmed it, over one connection after another. */
export class RabbitMqProducer {
  readonly #url: string;
  readonly #queue: string;
  #open: Promise<Open> | undefined;
  #closed = false;

  constructor(url: string, queue: string) {
    this.#url = url;
    this.#queue = queue;
  }

  declare(): Promise<void> {
    return this.#work(({ channel }) => declareQueues(channel, this.#queue));
  }

  async send(message: ChaosMessage): Promise<void> {
    const body = Buffer.from(JSON.stringify(message));
    await this.#work(({ channel }) => publish(channel, this.#queue, body));
  }

  /** Messages that wait to be handed over; those that a consumer holds do not count. */
  async backlog(): Promise<number> {
    let sum = 0;
    for (const queue of queuesOf(this.#queue)) {
      sum += (await this.#work(({ channel }) => channel.checkQueue(queue))).messageCount;
    }
    return sum;
  }

  /** Deletes the queues and ends the connection. */
  async close(): Promise<void> {
    await this.#work(async ({ channel }) => {
      for (const queue of queuesOf(this.#queue)) await channel.deleteQueue(queue);
    });
    this.#closed = true;
    const current = await this.#open;
    await current?.connection.close();
  }

  /** Does it again, over another connection, until it is done. @throws Error when the broker stays out of reach */
  async #work<T>(work: (open: Open) => Promise<T>): Promise<T> {
    const end = Date.now() + patienceMs;
    for (;;) {
      this.#open ??= open(this.#url);
      const current = this.#open;
      try {
        return await within(attemptMs, current.then(work));
      } catch (cause) {
        if (this.#open === current) this.#open = undefined;
        void current.then(({ connection }) => connection.close()).catch(() => {});
        if (this.#closed || Date.now() > end) {
          throw new Error(`RabbitMQ could not be worked with for ${patienceMs / 1_000} s.`, { cause });
        }
        await pause(pauseBeforeRetryMs);
      }
    }
  }
}

async function open(url: string): Promise<Open> {
  const connection = await connect(url, { timeout: connectTimeoutMs });
  connection.on("error", () => {});
  const channel = await connection.createConfirmChannel();
  channel.setMaxListeners(0);
  channel.on("error", () => {});
  return { connection, channel };
}

/** Resolves when the broker has confirmed the message. */
function publish(channel: ConfirmChannel, queue: string, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // Not every confirmation that will never come is told to be one.
    const closed = () => reject(new Error("The channel was closed before the confirmation."));
    channel.once("close", closed);
    channel.sendToQueue(queue, body, { persistent: true }, (error) => {
      channel.off("close", closed);
      if (error) reject(error);
      else resolve();
    });
  });
}
