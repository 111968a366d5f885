import type postgres from "postgres";

/** What a caller hands to a store to work through; from JavaScript it may be anything. */
export function requireClient(sql: unknown): postgres.Sql {
  const client = sql as Partial<postgres.Sql> | null | undefined;
  if (typeof client?.unsafe === "function" && typeof client.begin === "function")
    return client as postgres.Sql;
  throw new TypeError(
    "PostgresStore: the client must be what postgres() of postgres.js returned. Inside a transaction use store.within(tx).",
  );
}

/** A mark through a client would be kept whatever becomes of the effect. Only a client can begin transactions. */
export function requireTransaction(tx: unknown): postgres.TransactionSql {
  const given = tx as (Partial<postgres.TransactionSql> & { begin?: unknown }) | null | undefined;
  if (typeof given?.unsafe === "function" && typeof given.begin !== "function") {
    return given as postgres.TransactionSql;
  }
  throw new TypeError(
    "PostgresStore: within() takes the tx that sql.begin or transact hands to your callback. Outside a transaction use the store itself.",
  );
}
