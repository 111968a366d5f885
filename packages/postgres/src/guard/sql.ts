import { readFile } from "node:fs";
import type { Awaitable } from "@bq/idempotency-core/backend";
import type postgres from "postgres";
import type { DriverQuery } from "./driver.ts";

/** What is to be done in a transaction. */
export type Work<R> = (tx: postgres.TransactionSql) => Awaitable<R>;

/** Where the statements of a `tx` go. */
export interface Statements {
  /** Takes a statement, before it is complete. False when it was rejected. */
  admit(query: DriverQuery): boolean;
  /** Sends a statement that was taken. */
  send(query: DriverQuery): void;
  /** Runs the work after a savepoint. */
  savepoint<R>(label: string | undefined, work: Work<R>): Promise<R>;
}

/**
 * Makes the `tx` that the work is given: what postgres.js gives it, except for where its statements go. They are made by the
 * user's client, so its types and transforms hold.
 */
export function makeTx(sql: postgres.Sql, to: Statements): postgres.TransactionSql {
  const issue = (query: DriverQuery) => {
    if (to.admit(query)) to.send(query);
  };
  const handler = Object.assign(issue, { debug: sql.options.debug });
  const guarded = <Q>(query: Q): Q => {
    (query as unknown as DriverQuery).handler = handler;
    return query;
  };

  const tx = (first: unknown, ...rest: unknown[]): unknown => {
    const made: unknown = Reflect.apply(sql, undefined, [first, ...rest]);
    // As a function rather than a tag it makes identifiers and lists for other statements.
    return isTemplate(first) ? guarded(made) : made;
  };

  const { types, typed, array, json, options, parameters } = sql;
  return Object.assign(tx, {
    types,
    typed,
    array,
    json,
    options,
    parameters,
    unsafe: (...args: Parameters<typeof sql.unsafe>) => guarded(sql.unsafe(...args)),
    file: (path: string, ...rest: unknown[]) => {
      const query = Reflect.apply(sql.file, undefined, [path, ...rest]) as unknown as DriverQuery;
      query.handler = (self) => {
        if (to.admit(self)) readThenSend(path, self, to);
      };
      return query;
    },
    // The driver's own sends it outside the transaction.
    notify: (channel: string, payload: string) => guarded(sql`select pg_notify(${channel}, ${`${payload}`})`),
    savepoint: (first: unknown, ...rest: unknown[]) => {
      if (isTemplate(first))
        return to.savepoint(undefined, (inner) => Reflect.apply(inner, undefined, [first, ...rest]));
      return typeof first === "function"
        ? to.savepoint(undefined, first as Work<unknown>)
        : to.savepoint(String(first), rest[0] as Work<unknown>);
    },
    prepare: () => {
      throw new TypeError("tx.prepare: a transaction with a mark cannot be prepared for a later commit.");
    },
  }) as unknown as postgres.TransactionSql;
}

function readThenSend(path: string, query: DriverQuery, to: Statements): void {
  readFile(path, "utf8", (error, text) => {
    if (error === null) {
      query.strings = [text];
      to.send(query);
    } else query.reject(error);
  });
}

function isTemplate(value: unknown): boolean {
  return Array.isArray((value as { raw?: unknown } | null | undefined)?.raw);
}
