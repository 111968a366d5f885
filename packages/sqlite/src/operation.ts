import { quoteId, StoreError } from "@bq/idempotency-core/backend";

/** One thing to do with the database; `id` is the message that it is about. */
export interface Operation {
  readonly name: string;
  readonly id?: string | undefined;
}

export function closedError({ name, id }: Operation): StoreError {
  return new StoreError(`The store is closed: ${name}${of(id)} was refused and changed nothing.`, {
    operation: name,
    id,
    code: "BQ_STORE_CLOSED",
  });
}

/** Called inside a transaction. */
export function inTransactionError({ name, id }: Operation): StoreError {
  const way =
    name === "transact"
      ? "Transactions of SQLite do not nest: call transact outside, or mark the id with store.within(tx)."
      : "Its rollback would take back what the store has answered. Inside a transaction use store.within(tx), outside end the transaction first.";
  return new StoreError(`${name}${of(id)} was called while its connection is in a transaction. ${way}`, {
    operation: name,
    id,
  });
}

/** Called outside a transaction, and then waited for one that the connection's owner began. */
export function ownersTransactionError({ name, id }: Operation, busyTimeoutMs: number): StoreError {
  return new StoreError(
    `The connection was in a transaction of its owner for all of the ${busyTimeoutMs} ms (busyTimeoutMs) that ${name}${of(id)} waited, and was not to become a part of it. Keep such transactions short, or give the store a connection of its own.`,
    { operation: name, id },
  );
}

export function lockedError({ name, id }: Operation, busyTimeoutMs: number, cause: unknown): StoreError {
  return new StoreError(
    `The database was locked for all of the ${busyTimeoutMs} ms (busyTimeoutMs) that ${name}${of(id)} waited. Another connection holds it: look for a long transaction, or raise busyTimeoutMs.`,
    { operation: name, id, cause },
  );
}

function of(id: string | undefined): string {
  return id === undefined ? "" : ` of ${quoteId(id)}`;
}
