import { types } from "node:util";
import { ClaimParkedError, StoreError, StoreTimeoutError, toStoreError } from "./errors.ts";
import { requireParts } from "./handler.ts";
import { identify, type Message, type ReadKey } from "./message.ts";
import { isDelay, OptionReader, readWrapOptions, type Settings, show, type WrapOptions } from "./options.ts";
import { type Awaitable, isThenable, type TransactionalStore, type TransactResult } from "./store.ts";

/** The mark is part of the transaction, so there is nothing to decide about a mark that fails alone. */
export type TransactionalOptions<M = unknown> = Pick<WrapOptions<M>, "key" | "observe" | "storeTimeoutMs">;

/**
 * Runs the handler in a transaction of the store's database that also writes the mark: effect and mark are kept together or
 * not at all, whatever dies in between. What the handler does outside the transaction it was given is not covered.
 *
 * A duplicate that is under way elsewhere is waited for by the store; when that takes too long the delivery is parked with
 * `ClaimParkedError`. A handler may run again within one delivery when the database asks for the transaction to be
 * repeated; what the earlier run wrote was rolled back.
 *
 * @throws {TypeError | RangeError} at once, for a bad store, handler or option
 * @returns a function that rejects with what the handler threw, with `ClaimParkedError`, or with a `StoreError`; of these
 *   only one with the code `BQ_COMMIT_UNKNOWN` leaves open whether the transaction was committed
 *
 * @example
 * const onOrder = wrapTransactional(store, async (message: Envelope<Order>, tx) => {
 *   await tx`INSERT INTO payments (order_id) VALUES (${message.data.order_id})`;
 * });
 */
export function wrapTransactional<M extends Message, Tx, Rest extends unknown[], R>(
  store: TransactionalStore<Tx>,
  handler: (message: M, tx: Tx, ...rest: Rest) => Awaitable<R>,
  options?: TransactionalOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined>;
/** A message of any other shape needs the option `key`, which reads its id. */
export function wrapTransactional<M, Tx, Rest extends unknown[], R>(
  store: TransactionalStore<Tx>,
  handler: (message: M, tx: Tx, ...rest: Rest) => Awaitable<R>,
  options: TransactionalOptions<M> & { key: ReadKey<M> },
): (message: M, ...rest: Rest) => Promise<R | undefined>;
export function wrapTransactional<M, Tx, Rest extends unknown[], R>(
  store: TransactionalStore<Tx>,
  handler: (message: M, tx: Tx, ...rest: Rest) => Awaitable<R>,
  options?: TransactionalOptions<M>,
): (message: M, ...rest: Rest) => Promise<R | undefined> {
  requireParts("wrapTransactional", store, ["transact"], handler);
  const settings = readWrapOptions<M>(
    new OptionReader("wrapTransactional", options, ["key", "observe", "storeTimeoutMs"]),
  );

  return async (message, ...rest) => {
    const { id, error } = identify(message, settings.key);
    const { events } = settings;
    const delivery = new TransactionalDelivery<Tx, R>(settings, id, handler, (tx) =>
      handler(message, tx, ...rest),
    );
    const result = await delivery.run(store);
    const { durationMs } = delivery;
    if (result.status === "in-flight" && id !== undefined) {
      events.tell({ type: "parked", id, durationMs, retryAfterMs: result.retryAfterMs });
      throw new ClaimParkedError(id, result.retryAfterMs);
    }
    if (result.status !== "ran") {
      if (id !== undefined) events.tell({ type: "skipped", id, durationMs });
      return undefined;
    }
    if (id === undefined) events.tell({ type: "unidentified", durationMs, error });
    else events.tell({ type: "ran", id, durationMs });
    return result.value;
  };
}

/** One delivery's way through `transact`: tells the handler's failure from the store's, and bounds the store's share of the time. */
class TransactionalDelivery<Tx, R> {
  readonly #settings: Settings<never>;
  readonly #id: string | undefined;
  readonly #handler: unknown;
  readonly #handle: (tx: Tx) => Awaitable<R>;
  #startedAt: number;
  #handlerMs: number | undefined;
  /** What the handler threw in its latest run. */
  #thrown: { error: unknown } | undefined;
  #handled = false;
  #timedOut: StoreError | undefined;
  #liftLimit: () => void = () => {};
  #giveUp: (error: StoreError) => void = () => {};

  constructor(
    settings: Settings<never>,
    id: string | undefined,
    handler: unknown,
    handle: (tx: Tx) => Awaitable<R>,
  ) {
    this.#settings = settings;
    this.#handler = handler;
    this.#id = id;
    this.#handle = handle;
    this.#startedAt = settings.events.now();
  }

  /** How long the handler's latest run took or, when it did not run, the store. */
  get durationMs(): number {
    return this.#handlerMs ?? this.#settings.events.now() - this.#startedAt;
  }

  async run(store: TransactionalStore<Tx>): Promise<TransactResult<R>> {
    try {
      return await new Promise<TransactResult<R>>((resolve, reject) => {
        this.#giveUp = reject;
        this.#expectStore();
        Promise.resolve(store.transact(this.#id, this.#workFor()))
          .then((result) => resolve(requireTransactResult(result, this.#id)), reject)
          .catch(reject);
      });
    } catch (cause) {
      throw this.#failure(cause);
    } finally {
      this.#liftLimit();
    }
  }

  /** Starts the clock for the store: it has begun to wait, to commit or to roll back. */
  #expectStore(): void {
    this.#liftLimit();
    const { limits, storeTimeoutMs } = this.#settings;
    this.#liftLimit = limits.start(storeTimeoutMs, () => {
      const committing = this.#handled && this.#thrown === undefined;
      this.#timedOut = committing
        ? new StoreError(
            `The store did not answer the COMMIT within ${storeTimeoutMs} ms. The redelivery finds out.`,
            {
              operation: "transact",
              id: this.#id,
              code: "BQ_COMMIT_UNKNOWN",
            },
          )
        : new StoreTimeoutError("transact", this.#id, storeTimeoutMs);
      this.#giveUp(this.#timedOut);
    });
  }

  /** A store whose transactions are synchronous refuses an async function before it runs, so it must see one. */
  #workFor(): (tx: Tx) => Awaitable<R> {
    return types.isAsyncFunction(this.#handler) ? async (tx) => this.#work(tx) : (tx) => this.#work(tx);
  }

  #work(tx: Tx): Awaitable<R> {
    // The delivery was told that nothing happened, so nothing may happen any more: this rolls the transaction back.
    if (this.#timedOut) throw this.#timedOut;
    this.#liftLimit();
    this.#thrown = undefined;
    this.#handled = false;
    this.#startedAt = this.#settings.events.now();
    let value: Awaitable<R>;
    try {
      value = this.#handle(tx);
    } catch (error) {
      this.#finished({ error });
      throw error;
    }
    if (!isThenable(value)) {
      this.#finished();
      return value;
    }
    return value.then(
      (result) => {
        this.#finished();
        return result;
      },
      (error: unknown) => {
        this.#finished({ error });
        throw error;
      },
    );
  }

  #finished(thrown?: { error: unknown }): void {
    this.#handled = true;
    this.#thrown = thrown;
    this.#handlerMs = this.#settings.events.now() - this.#startedAt;
    this.#expectStore();
  }

  #failure(cause: unknown): unknown {
    const { events } = this.#settings;
    const id = this.#id;
    // A TypeError of the store's is a mistake in the handler, such as a promise where the transaction is synchronous: no time mends it.
    if ((this.#thrown && this.#thrown.error === cause) || cause instanceof TypeError) {
      events.tell({ type: "failed", id, durationMs: this.durationMs, error: cause });
      return cause;
    }
    const error = toStoreError(cause, "transact", id);
    events.tell({ type: "store-failed", id, durationMs: this.durationMs, error, action: "throw" });
    return error;
  }
}

function requireTransactResult<R>(result: TransactResult<R>, id: string | undefined): TransactResult<R> {
  const status = (result as TransactResult<R> | null | undefined)?.status;
  if (status === "ran" || status === "processed") return result;
  if (result?.status === "in-flight") {
    const { retryAfterMs } = result;
    if (isDelay(retryAfterMs)) return result;
    throw new StoreError(
      `The store answered transact with "in-flight" but a retryAfterMs that is no number of milliseconds: ${show(retryAfterMs)}.`,
      { operation: "transact", id },
    );
  }
  throw new StoreError(
    `The store answered transact with ${show(result)} instead of ran, in-flight or processed.`,
    {
      operation: "transact",
      id,
    },
  );
}
