import { free, id, inFlight, later, marked, now, question } from "./clauses.ts";
import { type Taken, take, takeAtBegin } from "./take-statements.ts";

/**
 * Every statement on the rows of one table. Each answers with one row of one text: `$1`, as it was sent, and the answer behind
 * it. So an answer tells which question it belongs to.
 */
export interface Statements {
  /** `$2` id. `1` when it is marked, else `0`. */
  readonly seen: string;
  /** `$2` ids as a JSON array. A `1` or a `0` for each, in their order. */
  readonly seenMany: string;
  /** `$2` id, `$3` ttl. */
  readonly remember: string;
  /** `$2` ids as a JSON array, unique and sorted, `$3` ttl. */
  readonly rememberMany: string;
  /** `$2` id. */
  readonly forget: string;
  /** `$2` id, `$3` token, `$4` lease. `taken`, `processed` or the milliseconds; no row: ask again. */
  readonly claim: string;
  /** `$2` id, `$3` token, `$4` lease. `1` when the claim is ours. */
  readonly renew: string;
  /** `$2` id, `$3` token, `$4` ttl. `1` when the claim was ours. */
  readonly commit: string;
  /** `$2` id, `$3` token. `1` when the claim was ours. */
  readonly release: string;
  /** `$2` id, `$3` ttl. Answers as `claim` does. */
  readonly mark: string;
  /** As `mark`, sent right behind `beginBounded`. */
  readonly markAtBegin: string;
  /** `$2` the most ids to give. A JSON array of ids whose rows are of no use any more. */
  readonly expired: string;
  /** `$2` ids as a JSON array. Deletes those that are of no use now, and tells how many. */
  readonly purge: string;
}

const ours = `held.message_id = ${id}
    AND held.claim_token = $3::pg_catalog.varchar::pg_catalog.text
    AND ${inFlight}`;

/** How many rows the statement changed. */
const countDone = `SELECT ${question} || pg_catalog.count(*)::pg_catalog.text
    FROM done`;

const mark: Taken = { expiresAt: later("$3::pg_catalog.varchar"), token: "NULL", claimedUntil: "NULL" };
// The ids of a batch, whatever the client makes of arrays.
const asked = "pg_catalog.json_array_elements_text($2::pg_catalog.varchar::pg_catalog.json)";

const orMark = `ON CONFLICT (message_id) DO UPDATE
    SET
      created_at = EXCLUDED.created_at,
      expires_at = EXCLUDED.expires_at,
      claim_token = NULL,
      claimed_until = NULL`;

/** The statements on the table of this name, which is already quoted. */
export function writeStatements(table: string): Statements {
  return Object.freeze({
    seen: `
    SELECT ${question} || CASE WHEN EXISTS (
      SELECT
      FROM ${table} AS held
      WHERE held.message_id = ${id}
        AND ${marked}
    ) THEN '1' ELSE '0' END`,

    // A subquery for each id is answered by the index. A join could read the whole table instead, by a plan that was made and
    // kept when the table was small.
    seenMany: `
    SELECT ${question} || pg_catalog.string_agg(
      COALESCE((SELECT '1' FROM ${table} AS held WHERE held.message_id = asked.id AND ${marked}), '0'),
      ''
      ORDER BY asked.position
    )
    FROM ${asked} WITH ORDINALITY AS asked (id, position)`,

    remember: `
    INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
    VALUES (${id}, ${now}, ${later("$3::pg_catalog.varchar")}, NULL, NULL)
    ${orMark}
    RETURNING ${question}`,

    // In the order of the list: two statements that lock the same rows in different orders would end in a deadlock.
    rememberMany: `
    WITH done AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT asked.id, ${now}, ${later("$3::pg_catalog.varchar")}, NULL, NULL
      FROM ${asked} WITH ORDINALITY AS asked (id, position)
      ORDER BY asked.position
      ${orMark}
      RETURNING 1
    )
    ${countDone}`,

    forget: `
    WITH done AS (
      DELETE FROM ${table} AS held
      WHERE held.message_id = ${id}
      RETURNING 1
    )
    ${countDone}`,

    claim: take(table, {
      expiresAt: "'epoch'::pg_catalog.timestamptz",
      token: "$3::pg_catalog.varchar::pg_catalog.text",
      claimedUntil: later("$4::pg_catalog.varchar"),
    }),

    renew: `
    WITH done AS (
      UPDATE ${table} AS held
      SET claimed_until = ${later("$4::pg_catalog.varchar")}
      WHERE ${ours}
      RETURNING 1
    )
    ${countDone}`,

    commit: `
    WITH done AS (
      UPDATE ${table} AS held
      SET
        created_at = ${now},
        expires_at = ${later("$4::pg_catalog.varchar")},
        claim_token = NULL,
        claimed_until = NULL
      WHERE ${ours}
      RETURNING 1
    ), lost AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT ${id}, ${now}, ${later("$4::pg_catalog.varchar")}, NULL, NULL
      WHERE NOT EXISTS (SELECT FROM done)
      ${orMark}
    )
    ${countDone}`,

    release: `
    WITH done AS (
      DELETE FROM ${table} AS held
      WHERE ${ours}
      RETURNING 1
    )
    ${countDone}`,

    mark: take(table, mark),
    markAtBegin: takeAtBegin(table, mark),

    // Finding them reads the whole table once, and that is cheaper than an index which every commit of a claim would have to
    // write to: it changes expires_at, and without such an index it stays on its page (a HOT update) and logs a third less.
    expired: `
    SELECT ${question} || COALESCE(pg_catalog.json_agg(expired.message_id), '[]')::pg_catalog.text
    FROM (
      SELECT held.message_id
      FROM ${table} AS held
      WHERE ${free}
      LIMIT $2::pg_catalog.varchar::pg_catalog.int8
    ) AS expired`,

    // A row that somebody works with is passed over, so that a purge waits for nobody.
    purge: `
    WITH expired AS (
      SELECT held.message_id
      FROM ${asked} AS asked (id)
      JOIN ${table} AS held
        ON held.message_id = asked.id
      WHERE ${free}
      FOR UPDATE OF held SKIP LOCKED
    ), done AS (
      DELETE FROM ${table} AS held
      USING expired
      WHERE held.message_id = expired.message_id
      RETURNING 1
    )
    ${countDone}`,
  });
}
