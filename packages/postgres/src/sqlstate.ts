import { quoteId, StoreError, toStoreError } from "@bq/idempotency-core/backend";

/** The codes of Postgres that mean something to this store. */
export const sqlState = {
  serializationFailure: "40001",
  deadlockDetected: "40P01",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
  undefinedTable: "42P01",
  undefinedColumn: "42703",
  invalidSchemaName: "3F000",
  insufficientPrivilege: "42501",
} as const;

/** How deep to look for the server's error: this store wraps it once, and so do ORMs. */
const longestCauseChain = 5;

/** The SQLSTATE that the server answered with, also where its error is the cause of this one; otherwise `undefined`. */
export function sqlStateOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < longestCauseChain && current instanceof Object; depth++) {
    const { code, severity, cause } = current as { code?: unknown; severity?: unknown; cause?: unknown };
    if (typeof code === "string" && typeof severity === "string") return code;
    current = cause;
  }
  return undefined;
}

/** Did the server give up the transaction for the sake of others, so that the same one may well succeed the next time? */
export function isTransient(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === sqlState.serializationFailure || state === sqlState.deadlockDetected;
}

/** Did the server end a wait for a lock, by `lock_timeout` or by `statement_timeout`? */
export function isWaitEnded(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === sqlState.lockNotAvailable || state === sqlState.queryCanceled;
}

/**
 * What the server says of values, rows and waits, and not of the table, the role, the server or the connection: by the class,
 * which is the first two characters. `57014` is a wait as well.
 */
const concernsValuesOrWaits = /^(?:22|23|40|44|54|55|P0)|^57014$/;

/** May one call of several be what the server refused, so that the others would succeed without it? */
export function mayConcernOne(error: unknown): boolean {
  return concernsValuesOrWaits.test(sqlStateOf(error) ?? "");
}

/** What a failed statement on the table is to the caller. A missing table or column says what to do about it. */
export function failure(error: unknown, operation: string, table: string, id?: string): StoreError {
  const state = sqlStateOf(error);
  const missing =
    state === sqlState.undefinedTable ||
    state === sqlState.undefinedColumn ||
    state === sqlState.invalidSchemaName;
  if (!missing) return toStoreError(error, operation, id);
  const of = id === undefined ? "" : ` of ${quoteId(id)}`;
  return new StoreError(
    `The store failed at ${operation}${of}: ${(error as Error).message}. Run migrate() once before the consumers start, ` +
      `so that the table ${table} is there with all its columns.`,
    { operation, id, code: "BQ_STORE_SCHEMA", cause: error },
  );
}

/**
 * Is this what a server said when it ended a session? A connection of postgres.js 3.4.9 that was terminated during a statement
 * gives it to the first statement after its return, instead of sending that: no server ends a session that is just beginning.
 */
export function isFarewell(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "57P01" || state === "57P02";
}
