import { inFlight, later, marked, now, question, standing, takeFree } from "./clauses.ts";

/**
 * The statements that many calls of one kind share. The parameters of such a statement are those of the call's own statement,
 * each as a JSON array with one entry per call; the ids are unique and sorted. It answers with a text for each call, in their
 * order and parted by commas: what the call's own statement would answer, or nothing, and then the call has to ask by itself.
 */
export interface GroupStatements {
  readonly seen: string;
  readonly remember: string;
  readonly forget: string;
  readonly claim: string;
  readonly renew: string;
  readonly commit: string;
  readonly release: string;
}

/**
 * How long a shared statement waits for a lock, in milliseconds. Then it has failed, and its calls are made one by one: those
 * that wait for nobody must not wait for the end of another's transaction.
 */
const longestWaitMs = 50;

// Read by the server when a wait begins, and gone with the statement, which is a transaction of its own.
const bounded = `
      CROSS JOIN (
        SELECT pg_catalog.set_config('lock_timeout', '${longestWaitMs}ms', TRUE) AS limited
        OFFSET 0
      ) AS bound
      WHERE bound.limited IS NOT NULL`;

// Makes the planner expect one row instead of a hundred, and so look rows up rather than read the table for them.
const few = `
      WHERE asked.position + 0 = asked.position`;

/** One row for each call: its parameters by these names, its position, and what else is to be known of it. */
function asked(names: readonly string[], condition = "", further = ""): string {
  const lists = names.map(
    (_, place) => `pg_catalog.json_array_elements_text($${place + 2}::pg_catalog.varchar::pg_catalog.json)`,
  );
  return `asked AS MATERIALIZED (
      SELECT asked.*${further}
      FROM ROWS FROM (
        ${lists.join(",\n        ")}
      ) WITH ORDINALITY AS asked (${[...names, "position"].join(", ")})${condition}
    )`;
}

/** What stands in the way of a claim. Looking first spares the row a lock, and the log a write, when there is nothing to take. */
function look(table: string): string {
  return `, (
        SELECT ${standing}
        FROM ${table} AS held
        WHERE held.message_id = asked.id
          AND (${marked} OR ${inFlight})
      ) AS found`;
}

function answer(text: string): string {
  return `SELECT ${question} || pg_catalog.string_agg(${text}, ',' ORDER BY asked.position)
    FROM asked`;
}

/** The rows that these calls are about and that nobody else works with, locked. Whoever finds none asks by himself. */
function locked(table: string, condition: string): string {
  return `locked AS MATERIALIZED (
      SELECT asked.*, found.place
      FROM asked
      CROSS JOIN LATERAL (
        SELECT held.ctid AS place
        FROM ${table} AS held
        WHERE held.message_id = asked.id${condition}
        FOR UPDATE SKIP LOCKED
      ) AS found
    )`;
}

// What was locked is found again by its place; a partitioned table has the same place in several partitions.
function deleteLocked(table: string): string {
  return `done AS (
      DELETE FROM ${table} AS held
      USING locked
      WHERE held.ctid = locked.place
        AND held.message_id = locked.id
      RETURNING locked.position
    )`;
}

const ours = `
          AND held.claim_token = asked.token
          AND ${inFlight}`;

/** The shared statements on the table of this name, which is already quoted. */
export function writeGroupStatements(table: string): GroupStatements {
  return Object.freeze({
    seen: `
    WITH ${asked(["id"])}
    ${answer(`COALESCE((
      SELECT '1'
      FROM ${table} AS held
      WHERE held.message_id = asked.id
        AND ${marked}
    ), '0')`)}`,

    remember: `
    WITH ${asked(["id", "ttl"], bounded)}, done AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT asked.id, ${now}, ${later("asked.ttl")}, NULL, NULL
      FROM asked
      ORDER BY asked.position
      ON CONFLICT (message_id) DO UPDATE
      SET
        created_at = EXCLUDED.created_at,
        expires_at = EXCLUDED.expires_at,
        claim_token = NULL,
        claimed_until = NULL
    )
    ${answer("'1'")}`,

    // A row that is there and could not be locked is left to the call itself.
    forget: `
    WITH ${asked(["id"], few)}, ${locked(table, "")}, ${deleteLocked(table)}
    ${answer(`CASE
      WHEN done.position IS NOT NULL THEN '1'
      WHEN EXISTS (SELECT FROM ${table} AS held WHERE held.message_id = asked.id) THEN ''
      ELSE '0'
    END`)}
    LEFT JOIN done
      ON done.position = asked.position`,

    claim: `
    WITH ${asked(["id", "token", "lease"], bounded, look(table))}, taken AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT asked.id, ${now}, 'epoch'::pg_catalog.timestamptz, asked.token, ${later("asked.lease")}
      FROM asked
      WHERE asked.found IS NULL
      ORDER BY asked.position
      ${takeFree}
      RETURNING held.claim_token
    )
    ${answer(`COALESCE(asked.found, CASE WHEN taken.claim_token IS NULL THEN '' ELSE 'taken' END)`)}
    LEFT JOIN taken
      ON taken.claim_token = asked.token`,

    // What is locked and ours is certainly in conflict, and an insert always goes by the index.
    renew: `
    WITH ${asked(["id", "token", "lease"])}, ${locked(table, ours)}, done AS (
      INSERT INTO ${table} AS held (message_id, expires_at, claim_token, claimed_until)
      SELECT locked.id, 'epoch'::pg_catalog.timestamptz, locked.token, ${later("locked.lease")}
      FROM locked
      ON CONFLICT (message_id) DO UPDATE
      SET claimed_until = EXCLUDED.claimed_until
      RETURNING held.claim_token
    )
    ${answer("CASE WHEN done.claim_token IS NULL THEN '' ELSE '1' END")}
    LEFT JOIN done
      ON done.claim_token = asked.token`,

    // The token tells what became of it: gone from a claim that was ours, and left in a mark whose id nobody had.
    commit: `
    WITH ${asked(["id", "token", "ttl"], bounded)}, done AS (
      INSERT INTO ${table} AS held (message_id, created_at, expires_at, claim_token, claimed_until)
      SELECT asked.id, ${now}, ${later("asked.ttl")}, asked.token, NULL
      FROM asked
      ORDER BY asked.position
      ON CONFLICT (message_id) DO UPDATE
      SET
        created_at = EXCLUDED.created_at,
        expires_at = EXCLUDED.expires_at,
        claim_token = NULL,
        claimed_until = NULL
      WHERE held.claim_token = EXCLUDED.claim_token
        AND ${inFlight}
      RETURNING held.message_id, held.claim_token
    )
    ${answer(`CASE
      WHEN done.message_id IS NULL THEN ''
      WHEN done.claim_token IS NULL THEN '1'
      ELSE '0'
    END`)}
    LEFT JOIN done
      ON done.message_id = asked.id`,

    release: `
    WITH ${asked(["id", "token"], few)}, ${locked(table, ours)}, ${deleteLocked(table)}
    ${answer("CASE WHEN done.position IS NULL THEN '' ELSE '1' END")}
    LEFT JOIN done
      ON done.position = asked.position`,
  });
}
