import type Sqlite from "better-sqlite3";
import type { StoredRow } from "./state.ts";

/** Every statement of the store, by what it does. Times are integer milliseconds since the epoch. */
export interface Statements {
  readonly read: Sqlite.Statement<[key: string], StoredRow>;
  readonly readMany: Sqlite.Statement<[keysAsJson: string], [key: string, ...StoredRow]>;
  readonly mark: Sqlite.Statement<[key: string, now: number, expiresAt: number | null]>;
  readonly markMany: Sqlite.Statement<[now: number, expiresAt: number | null, keysAsJson: string]>;
  readonly forget: Sqlite.Statement<[key: string]>;
  readonly claim: Sqlite.Statement<[{ key: string; now: number; token: string; until: number }]>;
  readonly renew: Sqlite.Statement<[{ key: string; now: number; token: string; until: number }]>;
  readonly commit: Sqlite.Statement<[{ key: string; now: number; token: string; expiresAt: number | null }]>;
  readonly release: Sqlite.Statement<[{ key: string; now: number; token: string }]>;
  readonly page: Sqlite.Statement<[{ after: string; size: number; now: number }], [unknown, unknown]>;
  readonly purge: Sqlite.Statement<[{ after: string; upTo: string; now: number }]>;
}

/**
 * Prepares the statements for a quoted table.
 *
 * Those that write return no rows on purpose: `get` of better-sqlite3 ends a statement after its first row without a look at
 * whether the commit worked, so a full disk would pass for a success. How many rows changed is answer enough.
 */
export function prepareStatements(database: Sqlite.Database, table: string): Statements {
  return {
    read: reading(database, read(table)),
    readMany: reading(database, readMany(table)),
    mark: database.prepare(mark(table)),
    markMany: database.prepare(markMany(table)),
    forget: database.prepare(forget(table)),
    claim: database.prepare(claim(table)),
    renew: database.prepare(renew(table)),
    commit: database.prepare(commit(table)),
    release: database.prepare(release(table)),
    page: reading(database, page(table)),
    purge: database.prepare(purge(table)),
  };
}

/** A statement whose rows are arrays with plain numbers, whatever the connection's owner prefers. */
function reading<Parameters extends unknown[], Row>(
  database: Sqlite.Database,
  sql: string,
): Sqlite.Statement<Parameters, Row> {
  const statement = database.prepare(sql).raw(true).safeIntegers(false);
  return statement as unknown as Sqlite.Statement<Parameters, Row>;
}

const read = (table: string): string => `
  SELECT expires_at, claim_token, claimed_until
  FROM ${table}
  WHERE message_id = ?`;

const readMany = (table: string): string => `
  SELECT message_id, expires_at, claim_token, claimed_until
  FROM ${table}
  WHERE message_id IN (SELECT value FROM json_each(?))`;

const mark = (table: string): string => `
  INSERT INTO ${table} (message_id, created_at, expires_at, claim_token, claimed_until)
  VALUES (?, ?, ?, NULL, NULL)
  ${overwritten}`;

const markMany = (table: string): string => `
  INSERT INTO ${table} (message_id, created_at, expires_at, claim_token, claimed_until)
  SELECT value, ?, ?, NULL, NULL
  FROM json_each(?)
  WHERE true
  ${overwritten}`;

const overwritten = `
  ON CONFLICT (message_id) DO UPDATE SET
    created_at = excluded.created_at,
    expires_at = excluded.expires_at,
    claim_token = NULL,
    claimed_until = NULL`;

const forget = (table: string): string => `
  DELETE FROM ${table}
  WHERE message_id = ?`;

/** The row is free to be claimed, or to be purged: its mark has expired or its lease is over. */
const over = `(
    (typeof(expires_at) = 'integer' AND expires_at > 0 AND expires_at <= @now)
    OR (expires_at = 0 AND claimed_until <= @now)
  )`;

/** The row is the claim of this token, and its lease is not over. */
const ours = `
  message_id = @key
  AND expires_at = 0
  AND claim_token = @token
  AND claimed_until > @now`;

const claim = (table: string): string => `
  INSERT INTO ${table} (message_id, created_at, expires_at, claim_token, claimed_until)
  VALUES (@key, @now, 0, @token, @until)
  ON CONFLICT (message_id) DO UPDATE SET
    created_at = excluded.created_at,
    expires_at = 0,
    claim_token = excluded.claim_token,
    claimed_until = excluded.claimed_until
  WHERE ${over}`;

const renew = (table: string): string => `
  UPDATE ${table}
  SET claimed_until = @until
  WHERE ${ours}`;

const commit = (table: string): string => `
  UPDATE ${table}
  SET
    created_at = @now,
    expires_at = @expiresAt,
    claim_token = NULL,
    claimed_until = NULL
  WHERE ${ours}`;

const release = (table: string): string => `
  DELETE FROM ${table}
  WHERE ${ours}`;

/** The last id of the next page in the order of the ids, and how many of its rows are over. */
const page = (table: string): string => `
  SELECT max(message_id), total(${over})
  FROM (
    SELECT message_id, expires_at, claimed_until
    FROM ${table}
    WHERE message_id > @after
    ORDER BY message_id
    LIMIT @size
  )`;

const purge = (table: string): string => `
  DELETE FROM ${table}
  WHERE message_id > @after
  AND message_id <= @upTo
  AND ${over}`;
