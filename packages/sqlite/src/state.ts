import { quoteId, StoreError, show } from "@bq/idempotency-core/backend";

/**
 * A stored row: `expires_at`, `claim_token`, `claimed_until`. SQLite keeps a value of any type in any column, so nothing is
 * known of them yet.
 */
export type StoredRow = readonly [expiresAt: unknown, claimToken: unknown, claimedUntil: unknown];

/** What an id is at a moment. */
export type State =
  | { readonly status: "absent" }
  | { readonly status: "processed" }
  | { readonly status: "in-flight"; readonly retryAfterMs: number };

const absent: State = Object.freeze({ status: "absent" });
const processed: State = Object.freeze({ status: "processed" });

/**
 * Reads a row: a mark has an `expires_at` that is NULL or still to come, a claim has 0 there.
 *
 * @throws {StoreError} `BQ_STORE_SCHEMA` for a row that this version never writes
 */
export function readState(key: string, row: StoredRow | undefined, now: number): State {
  if (row === undefined) return absent;
  const [expiresAt, claimToken, claimedUntil] = row;
  if (expiresAt === null) return processed;
  if (!isTime(expiresAt)) throw unknownRow(key, "expires_at", expiresAt);
  if (expiresAt > now) return processed;
  if (expiresAt > 0) return absent;
  if (typeof claimToken !== "string") throw unknownRow(key, "claim_token", claimToken);
  if (!isTime(claimedUntil)) throw unknownRow(key, "claimed_until", claimedUntil);
  return claimedUntil > now ? { status: "in-flight", retryAfterMs: claimedUntil - now } : absent;
}

function isTime(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function unknownRow(key: string, column: string, value: unknown): StoreError {
  return new StoreError(
    `The row of ${quoteId(key)} holds ${show(value)} as its ${column}, which this version never writes: it may be from a newer version or another program. Mend the row, or delete it if the message is to run again.`,
    { operation: "read", code: "BQ_STORE_SCHEMA" },
  );
}
