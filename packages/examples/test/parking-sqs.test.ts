import { type Message, SendMessageCommand } from "@aws-sdk/client-sqs";
import { InMemoryStore } from "@bq/idempotency-core";
import { RedisStore } from "@bq/idempotency-redis";
import { startRedis } from "@bq/idempotency-test-servers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type PolledQueue, pollParking } from "../src/parking/sqs.ts";
import { HeldEffect, leaseMs, Observed } from "./parking-scene.ts";
import { SqsEndpoint } from "./sqs-endpoint.ts";
import type { SqsQueue } from "./sqs-queue.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let sqs: SqsEndpoint;
let queue: SqsQueue;
let queueUrl: string;
let observed: Observed;
let stop: AbortController;
let polls: Promise<void>[];

beforeAll(async () => {
  sqs = await SqsEndpoint.start();
});

afterAll(() => sqs.stop());

beforeEach(() => {
  ({ queue, queueUrl } = sqs.createQueue(100));
  observed = new Observed();
  stop = new AbortController();
  polls = [];
  sqs.actions.length = 0;
});

afterEach(async () => {
  stop.abort();
  await Promise.all(polls);
});

/** What a consumer polls. */
function polled(visibilityTimeoutS?: number): PolledQueue {
  const options = visibilityTimeoutS === undefined ? {} : { visibilityTimeoutS };
  return { client: sqs.client, queueUrl, signal: stop.signal, ...options };
}

async function send(id: string): Promise<void> {
  const MessageBody = JSON.stringify({ meta: { id } });
  await sqs.client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
}

async function untilEmpty(): Promise<void> {
  await expect.poll(() => queue.size, { timeout: 60_000 }).toBe(0);
}

const receiveCount = (message: Message | undefined) => Number(message?.Attributes?.ApproximateReceiveCount);

test("of two messages of one id at once one stays hidden, comes back, and is skipped", async () => {
  const store = new InMemoryStore();
  const effect = new HeldEffect();
  const { observe } = observed;
  for (let consumers = 0; consumers < 2; consumers += 1) {
    polls.push(pollParking(polled(), store, effect.happen, { leaseMs, observe }));
  }
  await send("twice");
  await send("twice");
  await observed.until("parked");
  effect.letGo();
  await observed.until("skipped");
  await untilEmpty();
  expect(effect.count).toBe(1);
  expect(observed.types.slice(-2)).toEqual(["ran", "skipped"]);
  observed.expectDelaysKept();
  expect(queue.dead).toEqual([]);
});

test("a message that meets a store out of reach comes back, and is processed when the store is back", async () => {
  await using redis = await startRedis({ persistent: true });
  await using store = await RedisStore.connect(redis.url, { commandTimeoutMs: 500 });
  const processed: Message[] = [];
  await redis.kill();
  // So long that only the delay of the store error brings it back.
  polls.push(
    pollParking(polled(600), store, (message) => processed.push(message), { observe: observed.observe }),
  );
  await send("later");
  await observed.until("store-failed", 2);
  expect(processed).toEqual([]);
  await redis.restart();
  await untilEmpty();
  expect(processed).toHaveLength(1);
  // SQS counts every receive.
  expect(receiveCount(processed[0])).toBeGreaterThan(2);
  expect(queue.dead).toEqual([]);
});

test("a message stays hidden while its handler runs, for longer than its visibility timeout", async () => {
  const store = new InMemoryStore();
  const effect = new HeldEffect();
  const received: Message[] = [];
  const handler = async (message: Message) => {
    received.push(message);
    await effect.happen();
  };
  for (let consumers = 0; consumers < 2; consumers += 1) {
    polls.push(pollParking(polled(6), store, handler, { leaseMs, observe: observed.observe }));
  }
  await send("long");
  // One in two seconds.
  const beats = () => sqs.actions.filter((action) => action === "ChangeMessageVisibility").length;
  await expect.poll(beats, { timeout: 60_000 }).toBeGreaterThanOrEqual(4);
  effect.letGo();
  await untilEmpty();
  expect(observed.types).toEqual(["ran"]);
  expect(received.map(receiveCount)).toEqual([1]);
});

test("a message whose handler throws comes back after its visibility timeout", async () => {
  const received: Message[] = [];
  const handler = (message: Message) => {
    received.push(message);
    if (received.length === 1) throw new Error("The card was declined");
  };
  polls.push(pollParking(polled(1), new InMemoryStore(), handler, { observe: observed.observe }));
  await send("declined");
  await untilEmpty();
  expect(observed.types).toEqual(["failed", "ran"]);
  expect(received.map(receiveCount)).toEqual([1, 2]);
});

test("parking uses up a receive: a message that may be received once goes to the dead-letter queue", async () => {
  ({ queue, queueUrl } = sqs.createQueue(1));
  const store = new InMemoryStore();
  // The claim of a worker that died.
  store.claim("limited", 300);
  polls.push(pollParking(polled(), store, () => {}, { observe: observed.observe }));
  await send("limited");
  await expect.poll(() => queue.dead.length, { timeout: 60_000 }).toBe(1);
  expect(observed.types).toEqual(["parked"]);
});
