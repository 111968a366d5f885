import { show } from "@bq/idempotency-core/backend";

/** Postgres cuts longer names silently, and two tables could become one. In bytes. */
const longestName = 63;

const plainName = /^[\p{L}_][\p{L}\p{M}\p{N}_$-]*$/u;

/** The table that a store works on. */
export interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
  /** As it stands in SQL: every part quoted, so that its letters keep their case. */
  readonly quoted: string;
}

/**
 * Reads `table` or `schema.table`.
 *
 * @throws {TypeError} for a part with characters other than letters, digits, `_`, `$` and `-`
 * @throws {RangeError} for a part of more than 63 bytes
 */
export function parseTableName(text: string): TableName {
  const parts = text.split(".");
  if (parts.length > 2 || !parts.every((part) => plainName.test(part))) {
    throw new TypeError(
      `PostgresStore: table must be a name, or schema.name, of letters, digits, "_", "$" and "-" that begins with a letter or "_", unquoted; got ${show(text)}.`,
    );
  }
  for (const part of parts) {
    if (Buffer.byteLength(part) > longestName) {
      throw new RangeError(
        `PostgresStore: table names have at most ${longestName} bytes in Postgres, got ${Buffer.byteLength(part)} in ${show(part)}.`,
      );
    }
  }
  const [first = "", second] = parts;
  return Object.freeze({
    schema: second === undefined ? undefined : first,
    name: second ?? first,
    quoted: parts.map((part) => `"${part}"`).join("."),
  });
}
