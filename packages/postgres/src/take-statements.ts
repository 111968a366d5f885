import { free, id, inFlight, marked, now, question, standing } from "./clauses.ts";
import { isBegun } from "./guard/transaction.ts";

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
export function take(table: string, values: Taken): string {
  return `
    WITH standing AS (
      SELECT ${standing} AS answer
      FROM ${table} AS held
      WHERE held.message_id = ${id}
        AND (${marked} OR ${inFlight})
    ), taken AS (${insert(table, values, "WHERE NOT EXISTS (SELECT FROM standing)")}
      RETURNING 'taken' AS answer
    )
    SELECT ${question} || found.answer
    FROM (
      SELECT answer FROM standing
      UNION ALL
      SELECT answer FROM taken
    ) AS found`;
}

/** Where a transaction keeps the `lock_timeout` of the caller's statements, while ours is in force. */
const kept = "'bq_idempotency.lock_timeout'";

/**
 * Takes an id as the first statement of a transaction, which goes out with BEGIN: it answers `taken`, or with no row when the id is
 * not free. It does not look first, for nearly all that open a transaction find the id free.
 *
 * It waits for another's transaction no longer than the `lock_timeout` in `$4`, which the server reads when a wait begins; the
 * statements behind it have the one back that they had. A second attempt must not take ours for theirs, and what an earlier
 * transaction kept reads as empty.
 */
export function takeAtBegin(table: string, values: Taken): string {
  const bound = `FROM (
        SELECT pg_catalog.set_config('lock_timeout', $4::pg_catalog.varchar::pg_catalog.text, TRUE) AS lock_timeout
        FROM (
          SELECT pg_catalog.set_config(
            ${kept},
            COALESCE(
              NULLIF(pg_catalog.current_setting(${kept}, TRUE), ''),
              pg_catalog.current_setting('lock_timeout')
            ),
            TRUE
          ) AS lock_timeout
          OFFSET 0
        ) AS theirs
        WHERE theirs.lock_timeout IS NOT NULL
        OFFSET 0
      ) AS ours
      WHERE ours.lock_timeout IS NOT NULL
        AND ${isBegun}`;
  return `${insert(table, values, bound)}
      RETURNING
        ${question} || 'taken',
        pg_catalog.set_config('lock_timeout', pg_catalog.current_setting(${kept}), TRUE)`;
}

function insert(table: string, { expiresAt, token, claimedUntil }: Taken, condition: string): string {
  return `
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT ${id}, ${now}, ${expiresAt}, ${token}, ${claimedUntil}
      ${condition}
      ON CONFLICT (message_id) DO UPDATE
      SET
        created_at = EXCLUDED.created_at,
        expires_at = EXCLUDED.expires_at,
        claim_token = EXCLUDED.claim_token,
        claimed_until = EXCLUDED.claimed_until
      WHERE ${free}`;
}
