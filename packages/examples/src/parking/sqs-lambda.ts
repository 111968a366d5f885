import { type Awaitable, type BatchOptions, type Store, wrapBatch } from "@bq/idempotency-core";

/** What the function reads of an SQS event. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  readonly body: string;
}

/** The messages that Lambda leaves in the queue. The event source mapping needs `ReportBatchItemFailures`, or it is not read. */
export interface SqsBatchResponse {
  readonly batchItemFailures: { readonly itemIdentifier: string }[];
}

/**
 * Makes a Lambda handler that runs the handler once per `meta.id` of the JSON bodies. Only the messages that failed, or that
 * the store could not judge, are delivered again.
 *
 * @example
 * export const handler = partialBatch(store, async (record) => charge(JSON.parse(record.body).data));
 */
export function partialBatch(
  store: Store,
  handler: (record: SqsRecord) => Awaitable<unknown>,
  options?: Omit<BatchOptions<SqsRecord>, "key">,
): (event: SqsEvent) => Promise<SqsBatchResponse> {
  const key = (record: SqsRecord) => JSON.parse(record.body).meta.id;
  const run = wrapBatch(store, handler, { ...options, key });

  return async ({ Records }) => {
    const results = await run(Records);
    const failed = results.filter(({ outcome }) => outcome === "failed");
    return { batchItemFailures: failed.map(({ message }) => ({ itemIdentifier: message.messageId })) };
  };
}
