import { withDeadline } from "./deadline.ts";
import { StoreError } from "./errors.ts";
import { requireParts, runHandler } from "./handler.ts";
import { writeMark } from "./mark.ts";
import { identify, type Message, type ReadKey } from "./message.ts";
import {
  OptionReader,
  readWrapOptions,
  type Settings,
  show,
  type WrapOptions,
  wrapOptionNames,
} from "./options.ts";
import { type Awaitable, isThenable, type Store } from "./store.ts";

/**
 * Runs the handler once per message: a delivery whose `meta.id` was already processed is skipped and resolves to
 * `undefined`. The mark is written after the handler succeeded, so a handler that throws runs again on the redelivery, and
 * a message without a usable id runs on every delivery.
 *
 * Two deliveries of one id that overlap may both run, as may a redelivery after a crash between effect and mark. Where that
 * must not happen, use `wrapClaiming` or `wrapTransactional`.
 *
 * @param store remembers which ids were processed
 * @param handler is given the message and whatever else the consumer passes; its value is passed back
 * @throws {TypeError | RangeError} at once, for a bad store, handler or option
 * @returns a function that rejects with what the handler threw, or with a `StoreError` when the store cannot say whether
 *   the id was processed (the handler has not run then)
 *
 * @example
 * const onOrder = wrap(store, async (message: Envelope<Order>) => charge(message.data));
 * queue.consume(onOrder);
 */
export function wrap<M extends Message, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options?: WrapOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined>;
/** A message of any other shape needs the option `key`, which reads its id. */
export function wrap<M, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options: WrapOptions<M> & { key: ReadKey<M> },
): (message: M, ...rest: Rest) => Promise<R | undefined>;
export function wrap<M, Rest extends unknown[], R>(
  store: Store,
  handler: (message: M, ...rest: Rest) => Awaitable<R>,
  options?: WrapOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined> {
  requireParts("wrap", store, ["seen", "remember", "forget"], handler);
  const settings = readWrapOptions<M>(new OptionReader("wrap", options, wrapOptionNames));

  return async (message, ...rest) => {
    const identity = identify(message, settings.key);
    const { id } = identity;
    if (id !== undefined) {
      const processed = wasProcessed(store, id, settings);
      if (isThenable(processed) ? await processed : processed) return undefined;
    }
    const value = await runHandler(settings.events, identity, () => handler(message, ...rest));
    if (id !== undefined) {
      const marked = writeMark(settings, {
        operation: "remember",
        ids: [id],
        write: () => store.remember(id),
      });
      if (isThenable(marked)) await marked;
    }
    return value;
  };
}

/** Asks for the mark, under the option `onStoreFailure`: `false` may also mean that nobody knows and the handler is to run. */
function wasProcessed(store: Store, id: string, settings: Settings<never>): Awaitable<boolean> {
  const { events, onStoreFailure } = settings;
  const startedAt = events.now();
  const failed = (cause: unknown) => {
    const error = cause as StoreError;
    events.tell({
      type: "store-failed",
      id,
      durationMs: events.now() - startedAt,
      error,
      action: onStoreFailure,
    });
    if (onStoreFailure === "throw") throw error;
    return false;
  };
  const answered = (answer: unknown) => {
    if (typeof answer !== "boolean") return failed(notBoolean(answer, id));
    if (answer) events.tell({ type: "skipped", id, durationMs: events.now() - startedAt });
    return answer;
  };
  try {
    const answer = withDeadline(settings, { operation: "seen", id, call: () => store.seen(id) });
    return isThenable(answer) ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

/** Anything but a boolean would be a guess: a truthy answer skips a message for ever. */
export function requireBoolean(answer: unknown, id: string): boolean {
  if (typeof answer === "boolean") return answer;
  throw notBoolean(answer, id);
}

function notBoolean(answer: unknown, id: string): StoreError {
  return new StoreError(`The store answered seen with ${show(answer)} instead of true or false.`, {
    operation: "seen",
    id,
  });
}
