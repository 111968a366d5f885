// What the statements on the table have in common. A row is called `held` in all of them.

// Parameters come as varchar, and are cast at once: an operator between two types that differ is one that somebody's schema
// on the search_path could define.
export const question = "$1::pg_catalog.varchar::pg_catalog.text";

/** The id's storage key, in a statement about one id. */
export const id = "$2::pg_catalog.varchar::pg_catalog.text";

// The start of the statement, by the server's clock. now() would be the start of the transaction, which may be minutes ago
// when the caller opened it; clock_timestamp() may differ from row to row and cannot be compared through an index.
export const now = "pg_catalog.statement_timestamp()";

// A row is a mark by expires_at alone, for the Go store leaves the other two columns as they are.
export const marked: string = `(held.expires_at IS NULL OR held.expires_at > ${now})`;
export const inFlight: string = `(held.expires_at = 'epoch' AND held.claimed_until > ${now})`;
export const free: string = `(held.expires_at <= ${now}
      AND (held.expires_at <> 'epoch' OR held.claimed_until IS NULL OR held.claimed_until <= ${now}))`;

/** The end of an insert that takes ids: it takes the row of one that is free, and leaves any other as it is. */
export const takeFree: string = `ON CONFLICT (message_id) DO UPDATE
      SET
        created_at = EXCLUDED.created_at,
        expires_at = EXCLUDED.expires_at,
        claim_token = EXCLUDED.claim_token,
        claimed_until = EXCLUDED.claimed_until
      WHERE ${free}`;

/** What stands in the way of taking a row that is marked or in flight: `processed`, or for how many milliseconds more. */
export const standing: string = `CASE
          WHEN ${marked} THEN 'processed'
          ELSE pg_catalog.ceil(EXTRACT(epoch FROM held.claimed_until - ${now}) * 1000)::pg_catalog.int8::pg_catalog.text
        END`;

/** A time so many milliseconds from now; no number (NULL) gives no time (NULL), which is a mark that never expires. */
export function later(milliseconds: string): string {
  return `${now} + pg_catalog.make_interval(secs => ${milliseconds}::pg_catalog.float8 / 1000)`;
}
