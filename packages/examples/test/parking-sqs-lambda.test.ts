import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { InMemoryStore } from "@bq/idempotency-core";
import { RedisStore } from "@bq/idempotency-redis";
import { startRedis } from "@bq/idempotency-test-servers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  partialBatch,
  type SqsBatchResponse,
  type SqsEvent,
  type SqsRecord,
} from "../src/parking/sqs-lambda.ts";
import { SqsEndpoint } from "./sqs-endpoint.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let sqs: SqsEndpoint;

beforeAll(async () => {
  sqs = await SqsEndpoint.start();
});

afterAll(() => sqs.stop());

/** What Lambda does with a queue: hands over what it receives, and deletes all but what the function names as failed. */
async function invoke(
  queueUrl: string,
  lambda: (event: SqsEvent) => Promise<SqsBatchResponse>,
): Promise<string[]> {
  const receive = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 1, WaitTimeSeconds: 10 };
  const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand(receive));
  const { batchItemFailures } = await lambda({
    Records: Messages.map(({ MessageId, Body }) => ({ messageId: String(MessageId), body: String(Body) })),
  });
  const failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  for (const { MessageId, ReceiptHandle } of Messages) {
    if (failed.includes(String(MessageId))) continue;
    await sqs.client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return Messages.filter(({ MessageId }) => failed.includes(String(MessageId))).map(({ Body }) => idOf(Body));
}

async function send(queueUrl: string, id: string): Promise<void> {
  const MessageBody = JSON.stringify({ meta: { id } });
  await sqs.client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
}

const idOf = (body: string | undefined): string => JSON.parse(String(body)).meta.id;

test("only the messages that failed come back, and the others of the batch have their effect once", async () => {
  const { queue, queueUrl } = sqs.createQueue(100);
  const effects: string[] = [];
  let declined = false;
  const lambda = partialBatch(new InMemoryStore(), ({ body }: SqsRecord) => {
    const id = idOf(body);
    if (id === "b" && !declined) {
      declined = true;
      throw new Error("The card was declined");
    }
    effects.push(id);
  });
  for (const id of ["a", "b", "a", "c"]) await send(queueUrl, id);

  expect(await invoke(queueUrl, lambda)).toEqual(["b"]);
  expect(effects).toEqual(["a", "c"]);
  expect(await invoke(queueUrl, lambda)).toEqual([]);
  expect(effects).toEqual(["a", "c", "b"]);
  expect(queue.size).toBe(0);
});

test("a batch that meets a store out of reach comes back whole", async () => {
  const { queueUrl } = sqs.createQueue(100);
  await using redis = await startRedis({ persistent: true });
  await using store = await RedisStore.connect(redis.url, { commandTimeoutMs: 500 });
  const effects: string[] = [];
  const lambda = partialBatch(store, ({ body }: SqsRecord) => effects.push(idOf(body)));
  for (const id of ["a", "b"]) await send(queueUrl, id);

  await redis.kill();
  expect(await invoke(queueUrl, lambda)).toEqual(["a", "b"]);
  await redis.restart();
  const afterInvocation = async () => {
    await invoke(queueUrl, lambda);
    return effects;
  };
  // The store may need a moment to find its server again.
  await expect.poll(afterInvocation, { timeout: 60_000 }).toEqual(["a", "b"]);
});
