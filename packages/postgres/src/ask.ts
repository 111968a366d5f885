import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type postgres from "postgres";
import { sqlStateOf } from "./sqlstate.ts";

/** A parameter is text or NULL, and its type is named in the SQL. */
export type Parameter = string | null;

/** Whatever of postgres.js can carry a statement: a client, or a transaction on it. */
export type Client = Pick<postgres.ISql<Record<never, never>>, "unsafe">;

/**
 * Between the error of a socket and its closing, postgres.js still hands statements to that connection, where they are lost
 * or disturb the next one. Whoever hears of the error after this pause, in milliseconds, cannot be in time for that.
 */
const closingMs = 10;

/** What every question of this process begins with. */
const origin = randomBytes(3).toString("base64url");
let questions = 0;

/**
 * Runs one statement and gives the text with which it answered; `undefined` when there is no row.
 *
 * The answer is read past whatever the client's owner configured: custom parsers and `transform.value` do not see raw
 * columns, and column names are not used. Parameters are sent as `varchar`, for which postgres.js has no serializer that an
 * owner would replace. And it must begin with `$1`, the number of this question: a postgres.js connection that broke may
 * answer one statement with what belongs to another, or with nothing at all.
 */
export async function ask(
  client: Client,
  sql: string,
  parameters: readonly Parameter[],
): Promise<string | undefined> {
  const question = `${origin}${(questions++).toString(36)}:`;
  // A client with `prepare: false` does not prepare, whatever is asked for here.
  const query = client.unsafe(sql, [question, ...parameters], { prepare: true }).raw();
  const result = await query.catch(async (error: unknown) => {
    if (sqlStateOf(error) === undefined) await pause(closingMs);
    throw error;
  });
  const [row, ...more] = Array.from(result, firstColumn);
  const belongs = row?.startsWith(question) ?? typeof result.command === "string";
  if (!belongs || more.length > 0) {
    throw new Error("The connection broke, and what came back is not the answer to this statement.");
  }
  return row?.slice(question.length);
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
