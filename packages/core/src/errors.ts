/** What went wrong, as a stable word: compare this, not the class, where two copies of the package may be loaded. */
export type IdempotencyErrorCode = "BQ_CLAIM_PARKED" | "BQ_CLAIM_LOST" | StoreErrorCode;

/**
 * - `BQ_STORE_FAILED`: the operation failed; the driver's error is the `cause`
 * - `BQ_STORE_TIMEOUT`: no answer within the time limit
 * - `BQ_STORE_CLOSED`: the store was closed
 * - `BQ_STORE_SCHEMA`: the storage holds something of another shape than this version writes
 * - `BQ_COMMIT_UNKNOWN`: the answer to a COMMIT was lost; the redelivery finds out what happened
 */
export type StoreErrorCode =
  | "BQ_STORE_FAILED"
  | "BQ_STORE_TIMEOUT"
  | "BQ_STORE_CLOSED"
  | "BQ_STORE_SCHEMA"
  | "BQ_COMMIT_UNKNOWN";

/** How long to leave a delivery that met a failing store, in milliseconds, when the store gives no better hint. */
const storeRetryAfterMs = 1_000;

/** What every error of this library has: a `code`, and the `cause` when another error led to it. */
export abstract class IdempotencyError extends Error {
  /** Which kind of error this is. */
  abstract readonly code: IdempotencyErrorCode;
}

/** The id is in flight elsewhere: hand the delivery back and let the broker bring it again after `retryAfterMs`. */
export class ClaimParkedError extends IdempotencyError {
  override readonly name = "ClaimParkedError";
  readonly code = "BQ_CLAIM_PARKED";
  /** The id that is in flight. */
  readonly id: string;
  /** Milliseconds until the other worker's lease would lapse, if it is not renewed. */
  readonly retryAfterMs: number;

  constructor(id: string, retryAfterMs: number) {
    super(
      `Message ${quoteId(id)} is being processed elsewhere. Redeliver it in ${retryAfterMs} ms without counting this as a failed attempt.`,
    );
    this.id = id;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The lease is over and the claim may be another worker's: whatever the handler still does, it does unguarded. */
export class ClaimLostError extends IdempotencyError {
  override readonly name = "ClaimLostError";
  readonly code = "BQ_CLAIM_LOST";
  /** The id whose claim was lost. */
  readonly id: string;

  constructor(id: string, options?: { cause?: unknown }) {
    super(
      `The claim on message ${quoteId(id)} was lost: its lease ran out before it was renewed, or it was taken away. Stop the effect if you still can; leaseMs should exceed the longest pause of the worker.`,
      options,
    );
    this.id = id;
  }
}

/** A store operation failed. The driver's error is the `cause`. */
export class StoreError extends IdempotencyError {
  override readonly name: string = "StoreError";
  readonly code: StoreErrorCode;
  /** The store method, such as `seen`. */
  readonly operation: string;
  /** The id that the call was about; `undefined` when it was about several, or none. */
  readonly id: string | undefined;
  /** A hint for the broker: milliseconds to wait before the delivery is tried again. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    details: {
      operation: string;
      id?: string | undefined;
      code?: StoreErrorCode;
      retryAfterMs?: number;
      cause?: unknown;
    },
  ) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = details.code ?? "BQ_STORE_FAILED";
    this.operation = details.operation;
    this.id = details.id;
    this.retryAfterMs = details.retryAfterMs ?? storeRetryAfterMs;
  }
}

/** The store did not answer in time. Whether it still did what it was asked is unknown. */
export class StoreTimeoutError extends StoreError {
  override readonly name = "StoreTimeoutError";
  /** The limit that was exceeded, in milliseconds. */
  readonly timeoutMs: number;

  constructor(operation: string, id: string | undefined, timeoutMs: number) {
    super(`The store did not answer ${operation}${of(id)} within ${timeoutMs} ms.`, {
      operation,
      id,
      code: "BQ_STORE_TIMEOUT",
      retryAfterMs: Math.max(timeoutMs, storeRetryAfterMs),
    });
    this.timeoutMs = timeoutMs;
  }
}

/** Every code, for telling our errors from others whose code only begins like ours. */
const storeErrorCodes: Readonly<Record<StoreErrorCode, true>> = {
  BQ_STORE_FAILED: true,
  BQ_STORE_TIMEOUT: true,
  BQ_STORE_CLOSED: true,
  BQ_STORE_SCHEMA: true,
  BQ_COMMIT_UNKNOWN: true,
};
const errorCodes: Readonly<Record<IdempotencyErrorCode, true>> = {
  BQ_CLAIM_PARKED: true,
  BQ_CLAIM_LOST: true,
  ...storeErrorCodes,
};

/** Is this an error of this library, also one that another copy of the package made? Judged by its code. */
export function isIdempotencyError(error: unknown): error is IdempotencyError {
  return hasCode(error, errorCodes);
}

/** Is this a store's failure, also one that another copy of the package made? */
export function isStoreError(error: unknown): error is StoreError {
  return hasCode(error, storeErrorCodes);
}

/** Makes a `StoreError` of whatever a store or its driver threw; one that is a `StoreError` already stays what it is. */
export function toStoreError(error: unknown, operation: string, id?: string): StoreError {
  if (isStoreError(error)) return error;
  return new StoreError(`The store failed at ${operation}${of(id)}: ${describeError(error)}`, {
    operation,
    id,
    cause: error,
  });
}

/** An id as it may stand in a message: quoted, escaped, and cut when long. */
export function quoteId(id: string): string {
  return id.length <= 80
    ? JSON.stringify(id)
    : `${JSON.stringify(id.slice(0, 80))}… (${id.length} characters)`;
}

function of(id: string | undefined): string {
  return id === undefined ? "" : ` of ${quoteId(id)}`;
}

function hasCode(error: unknown, codes: Readonly<Record<string, true>>): boolean {
  try {
    const { code } = error as { code?: unknown };
    return error instanceof Error && typeof code === "string" && Object.hasOwn(codes, code);
  } catch {
    return false;
  }
}

/** What a value that was thrown says, as it may stand in a message. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? error.message || error.name : String(error);
  } catch {
    return "a value that cannot be printed was thrown";
  }
}
