import { withDeadline } from "./deadline.ts";
import { describeError, StoreError } from "./errors.ts";
import { requireParts, runHandler } from "./handler.ts";
import { writeMark } from "./mark.ts";
import { type Identity, identify, type Message, type ReadKey } from "./message.ts";
import {
  OptionReader,
  readWrapOptions,
  type Settings,
  show,
  type WrapOptions,
  wrapOptionNames,
} from "./options.ts";
import { type Awaitable, isBatchStore, type Store } from "./store.ts";
import { requireBoolean } from "./wrap.ts";

export interface BatchOptions<M = unknown> extends WrapOptions<M> {
  /** How many handlers may run at the same time. Default 1: one after another, in the order of the messages. */
  concurrency?: number | undefined;
}

/** What became of one message of a batch. */
export type BatchResult<M, R> =
  | { message: M; outcome: "ran"; value: R; error?: undefined }
  | { message: M; outcome: "skipped"; value?: undefined; error?: undefined }
  | { message: M; outcome: "failed"; value?: undefined; error: unknown };

/**
 * `wrap` for consumers that are handed many messages at once. One question to the store for the whole batch, the handler
 * for each message that was not processed, one write for those that succeeded. An id that is repeated inside the batch ends
 * as if its messages had come one after another: after a success it is skipped, after a failure it runs again.
 *
 * With a `BatchStore` the marks are written together at the end, so a crash in the middle runs the batch again; with a plain
 * store each mark follows its handler.
 *
 * @throws {TypeError | RangeError} at once, for a bad store, handler or option
 * @returns a function that resolves to one result per message, in their order. It rejects only with a `TypeError`, when it
 *   is not given an array: a message that fails, for whatever reason, has `outcome: "failed"` and fails no other.
 *
 * @example
 * const onBatch = wrapBatch(store, async (message: Envelope<Order>) => charge(message.data), { concurrency: 10 });
 * const results = await onBatch(messages);
 * const failed = results.filter((result) => result.outcome === "failed");
 */
export function wrapBatch<M extends Message, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options?: BatchOptions<M>,
): (messages: readonly M[], ...rest: Rest) => Promise<BatchResult<M, R>[]>;
/** Messages of any other shape need the option `key`, which reads their id. */
export function wrapBatch<M, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options: BatchOptions<M> & { key: ReadKey<M> },
): (messages: readonly M[], ...rest: Rest) => Promise<BatchResult<M, R>[]>;
export function wrapBatch<M, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options?: BatchOptions<M>,
): (messages: readonly M[], ...rest: Rest) => Promise<BatchResult<M, R>[]> {
  requireParts("wrapBatch", store, ["seen", "remember", "forget"], handler);
  const read = new OptionReader("wrapBatch", options, [...wrapOptionNames, "concurrency"]);
  const settings = readWrapOptions<M>(read);
  const concurrency = read.integer("concurrency", { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? 1;

  return async (messages, ...rest) => {
    const batch = new Batch<M, R>(store, settings, listOf(messages), (message) => handler(message, ...rest));
    return batch.run(concurrency);
  };
}

/** The messages as they are now, whatever becomes of the array meanwhile. */
function listOf<M>(messages: readonly M[]): M[] {
  try {
    if (Array.isArray(messages)) return [...messages];
  } catch (cause) {
    throw new TypeError(`wrapBatch: messages cannot be read: ${describeError(cause)}.`, { cause });
  }
  throw new TypeError(`wrapBatch: messages must be an array, got ${show(messages)}.`);
}

/** One call of a batch consumer: what is known of its ids while its messages are worked through. */
class Batch<M, R> {
  readonly #store: Store;
  readonly #settings: Settings<M>;
  readonly #messages: readonly M[];
  readonly #identities: readonly Identity[];
  readonly #handle: (message: M) => Awaitable<R>;
  /** Ids that need no handler any more: marked before the batch, or processed in it. */
  readonly #processed = new Set<string>();
  /** Ids of which the store could not say whether they were processed. */
  readonly #unknown = new Map<string, StoreError>();
  /** Ids whose handler is running; a repetition waits for its end. */
  readonly #running = new Map<string, Promise<void>>();
  /** Ids whose mark is to be written at the end. */
  readonly #unmarked = new Set<string>();
  /** Ids that were processed and, under `onMarkFailure: "throw"`, failed for want of their mark: a repetition fails with them. */
  readonly #markFailures = new Map<string, unknown>();
  #askMs = 0;

  constructor(
    store: Store,
    settings: Settings<M>,
    messages: readonly M[],
    handle: (message: M) => Awaitable<R>,
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#messages = messages;
    this.#identities = this.#messages.map((message) => identify(message, settings.key));
    this.#handle = handle;
  }

  async run(concurrency: number): Promise<BatchResult<M, R>[]> {
    await this.#ask();
    const results = new Array<BatchResult<M, R>>(this.#messages.length);
    let next = 0;
    const work = async () => {
      for (let index = next++; index < results.length; index = next++)
        results[index] = await this.#deliver(index);
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, results.length) }, work));
    return this.#writeMarks(results);
  }

  /** Asks once for all ids of the batch, each named once. */
  async #ask(): Promise<void> {
    const ids = [...new Set(this.#identities.flatMap(({ id }) => id ?? []))];
    if (ids.length === 0) return;
    const startedAt = this.#settings.events.now();
    if (isBatchStore(this.#store)) await this.#askTogether(this.#store, ids);
    else await Promise.all(ids.map((id) => this.#askOne(id)));
    this.#askMs = this.#settings.events.now() - startedAt;
  }

  async #askTogether(
    store: Store & { seenMany(ids: readonly string[]): Awaitable<boolean[]> },
    ids: string[],
  ) {
    try {
      const call = () => store.seenMany(ids);
      const request = { operation: "seenMany", id: undefined, call };
      const answers: unknown = await withDeadline(this.#settings, request);
      if (!Array.isArray(answers) || answers.length !== ids.length) {
        throw new StoreError(
          `The store answered seenMany of ${ids.length} ids with ${show(answers)} of another length.`,
          {
            operation: "seenMany",
          },
        );
      }
      const seen = ids.filter((id, index) => requireBoolean(answers[index], id));
      for (const id of seen) this.#processed.add(id);
    } catch (error) {
      for (const id of ids) this.#unknown.set(id, error as StoreError);
    }
  }

  async #askOne(id: string): Promise<void> {
    try {
      const call = () => this.#store.seen(id);
      const answer = await withDeadline(this.#settings, { operation: "seen", id, call });
      if (requireBoolean(answer, id)) this.#processed.add(id);
    } catch (error) {
      this.#unknown.set(id, error as StoreError);
    }
  }

  async #deliver(index: number): Promise<BatchResult<M, R>> {
    const message = this.#messages[index] as M;
    const identity = this.#identities[index] as Identity;
    const { id } = identity;
    if (id === undefined) return this.#handleOne(message, identity);

    for (let earlier = this.#running.get(id); earlier; earlier = this.#running.get(id)) await earlier;
    const { events, onStoreFailure } = this.#settings;
    if (this.#processed.has(id)) {
      events.tell({ type: "skipped", id, durationMs: this.#askMs });
      return this.#markFailures.has(id)
        ? { message, outcome: "failed", error: this.#markFailures.get(id) }
        : { message, outcome: "skipped" };
    }
    const error = this.#unknown.get(id);
    if (error) {
      events.tell({ type: "store-failed", id, durationMs: this.#askMs, error, action: onStoreFailure });
      if (onStoreFailure === "throw") return { message, outcome: "failed", error };
    }
    const result = this.#handleOne(message, identity);
    this.#running.set(
      id,
      result.then(() => void this.#running.delete(id)),
    );
    return result;
  }

  async #handleOne(message: M, identity: Identity): Promise<BatchResult<M, R>> {
    try {
      const value = await runHandler(this.#settings.events, identity, () => this.#handle(message));
      if (identity.id !== undefined) await this.#succeeded(identity.id);
      return { message, outcome: "ran", value };
    } catch (error) {
      return { message, outcome: "failed", error };
    }
  }

  async #succeeded(id: string): Promise<void> {
    this.#processed.add(id);
    if (isBatchStore(this.#store)) {
      this.#unmarked.add(id);
      return;
    }
    try {
      const write = () => this.#store.remember(id);
      await writeMark(this.#settings, { operation: "remember", ids: [id], write });
    } catch (error) {
      this.#markFailures.set(id, error);
      throw error;
    }
  }

  async #writeMarks(results: BatchResult<M, R>[]): Promise<BatchResult<M, R>[]> {
    const store = this.#store;
    const ids = [...this.#unmarked];
    if (ids.length === 0 || !isBatchStore(store)) return results;
    try {
      await writeMark(this.#settings, {
        operation: "rememberMany",
        ids,
        write: () => store.rememberMany(ids),
      });
      return results;
    } catch (error) {
      return results.map((result, index) => {
        const { id } = this.#identities[index] as Identity;
        const unmarked = id !== undefined && this.#unmarked.has(id) && result.outcome !== "failed";
        return unmarked ? { message: result.message, outcome: "failed", error } : result;
      });
    }
  }
}
