import type postgres from "postgres";

/** A parameter is text or NULL, and its type is named in the SQL. */
export type Parameter = string | null;

/** Whatever of postgres.js can carry a statement: a client, or a transaction on it. */
export type Client = Pick<postgres.ISql<Record<never, never>>, "unsafe">;

/** What the server answered. */
export interface Answer {
  /** How many rows the statement gave, or changed when it gave none. */
  readonly count: number;
  /** The first column of each row, as the text that the server sent. */
  readonly column: readonly string[];
}

/**
 * Runs one statement and reads its answer past whatever the client's owner configured. Custom type parsers and
 * `transform.value` do not see raw columns, column names are not used, and the row count comes from the command tag.
 * Parameters are sent as `varchar`, for which postgres.js has no serializer that an owner would replace.
 */
export async function ask(client: Client, sql: string, parameters: readonly Parameter[]): Promise<Answer> {
  // A client with `prepare: false` does not prepare, whatever is asked for here.
  const result = await client.unsafe(sql, [...parameters], { prepare: true }).raw();
  return { count: result.count ?? 0, column: Array.from(result, firstColumn) };
}

/** `transform.row` does see raw rows, and may have made an object of the array; the bytes in it are the same. */
function firstColumn(row: unknown): string {
  const bytes: unknown = Object.values(row ?? {})[0];
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString("utf8");
  throw new TypeError(
    "The option `transform.row` of the postgres.js client turns rows into something that cannot be read. " +
      "Give the store a client of its own, or let it connect by itself: PostgresStore.connect(url).",
  );
}
