import { id, inFlight, marked, now, question, standing, takeFree } from "./clauses.ts";

/** What a row becomes when it is taken. */
export interface Taken {
  readonly expiresAt: string;
  readonly token: string;
  readonly claimedUntil: string;
}

/**
 * Takes an id unless it is marked or in flight. One row tells what was found: `taken`, `processed`, or for how many
 * milliseconds more it is in flight. No row means that another took it, or gave it up, while this statement waited for it,
 * unseen by its snapshot: ask again. Looking first spares the row a lock, and the log a write, when there is nothing to take.
 */
export function take(
  table: string,
  values: Taken,
  { onlyIf, afterwards }: { onlyIf: string; afterwards: string } = { onlyIf: "TRUE", afterwards: "" },
): string {
  return `
    WITH standing AS (
      SELECT ${standing} AS answer
      FROM ${table} AS held
      WHERE held.message_id = ${id}
        AND (${marked} OR ${inFlight})
    ), taken AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT ${id}, ${now}, ${values.expiresAt}, ${values.token}, ${values.claimedUntil}
      WHERE NOT EXISTS (SELECT FROM standing)
        AND ${onlyIf}
      ${takeFree}
      RETURNING 'taken' AS answer
    )
    SELECT ${question} || found.answer${afterwards}
    FROM (
      SELECT answer FROM standing
      UNION ALL
      SELECT answer FROM taken
    ) AS found`;
}

/** Where a transaction keeps the lock_timeout of the caller's statements, while that of the mark is in force. */
const kept = "'bq_idempotency.lock_timeout'";

/** Opens a transaction whose first statement, `takeAtBegin`, waits for a lock no longer than this. */
export function beginBounded(lockTimeoutMs: number): string {
  return `
    BEGIN;
    SELECT pg_catalog.set_config(${kept}, pg_catalog.current_setting('lock_timeout'), TRUE);
    SET LOCAL lock_timeout = ${lockTimeoutMs}`;
}

/**
 * Takes an id as the first statement of a transaction that `beginBounded` opens, before anybody knows whether that succeeded:
 * it takes nothing unless what BEGIN kept is there, which is gone with the transaction and reads as empty afterwards. The
 * statements behind it have the lock_timeout back that the caller's had.
 */
export function takeAtBegin(table: string, values: Taken): string {
  return take(table, values, {
    onlyIf: `pg_catalog.current_setting(${kept}, TRUE) <> ''`,
    afterwards: `, pg_catalog.set_config('lock_timeout', pg_catalog.current_setting(${kept}), TRUE)`,
  });
}
