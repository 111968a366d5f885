import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import {
  type Awaitable,
  type ClaimContext,
  type ClaimingOptions,
  type ClaimingStore,
  wrapClaiming,
} from "@bq/idempotency-core";
import { retryAfterMs } from "./retry-after.ts";
import { keepHidden } from "./sqs-visibility.ts";

export interface PolledQueue {
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** Ends the polling. */
  readonly signal: AbortSignal;
  /**
   * How long a message that is received is hidden from others, in seconds; prolonged while the handler runs. Default 30. No
   * less than the lease, or the redelivery after a crash comes too early and is parked.
   */
  readonly visibilityTimeoutS?: number;
}

/**
 * Receives from a queue until the signal aborts, and runs the handler once per `meta.id` of the JSON bodies. A message that
 * is parked, or that meets a failing store, stays hidden for as long as it has to wait; each receive is counted, though.
 */
export async function pollParking(
  { client, queueUrl, signal, visibilityTimeoutS = 30 }: PolledQueue,
  store: ClaimingStore,
  handler: (message: Message, context: ClaimContext) => Awaitable<unknown>,
  options?: Omit<ClaimingOptions<Message>, "key">,
): Promise<void> {
  const key = (message: Message) => JSON.parse(message.Body ?? "").meta.id;
  const run = wrapClaiming(store, handler, { ...options, key });

  async function handle(message: Message): Promise<void> {
    const delivery = { QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle };
    const hide = (VisibilityTimeout: number) =>
      client.send(new ChangeMessageVisibilityCommand({ ...delivery, VisibilityTimeout }));
    const endHeartbeat = keepHidden(hide, visibilityTimeoutS);
    let delayMs: number | undefined;
    try {
      await run(message);
    } catch (error) {
      // The handler's own failure: it comes back when its visibility timeout is over, as every failure does.
      delayMs = retryAfterMs(error);
      if (delayMs === undefined) return;
    } finally {
      await endHeartbeat();
    }
    await (delayMs === undefined
      ? client.send(new DeleteMessageCommand(delivery))
      : hide(Math.ceil(delayMs / 1_000)));
  }

  const receive = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    VisibilityTimeout: visibilityTimeoutS,
    WaitTimeSeconds: 20,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ["ApproximateReceiveCount"],
  });
  while (!signal.aborted) {
    const messages = await client.send(receive, { abortSignal: signal }).then(
      ({ Messages }) => Messages ?? [],
      (error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      },
    );
    // What could be neither deleted nor hidden comes back by itself, and is skipped or parked again.
    await Promise.allSettled(messages.map(handle));
  }
}
