import type { Store } from "@bq/idempotency-core";
import { StoreError, storageKey, toStoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { look, writeMark } from "./marks.ts";
import type { Settings } from "./options.ts";
import { requireTable } from "./schema.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/**
 * The store inside a transaction that its caller opened: the marks are kept or dropped with it. Nothing waits for a lock in
 * here, since the caller's transaction could not go on meanwhile.
 */
export class StoreInTransaction implements Store {
  readonly #tx: Sqlite.Database;
  readonly #settings: Settings;
  #statements: Statements | undefined;

  constructor(tx: Sqlite.Database, settings: Settings) {
    this.#tx = tx;
    this.#settings = settings;
  }

  seen(id: string): boolean {
    return this.#run("seen", id, (statements, key) => look(statements, key).status === "processed");
  }

  remember(id: string): void {
    this.#run("remember", id, (statements, key) => writeMark(statements, key, this.#settings));
  }

  forget(id: string): void {
    this.#run("forget", id, (statements, key) => statements.forget.run(key));
  }

  #run<T>(operation: string, id: string, act: (statements: Statements, key: string) => T): T {
    const key = storageKey(id);
    if (!this.#tx.open || !this.#tx.inTransaction) {
      throw new StoreError(
        `${operation} was called through within(tx), but tx is in no transaction: begin one first (BEGIN IMMEDIATE), or use the store itself.`,
        { operation, id },
      );
    }
    try {
      return act(this.#prepared(), key);
    } catch (error) {
      throw toStoreError(error, operation, id);
    }
  }

  #prepared(): Statements {
    if (this.#statements === undefined) {
      requireTable(this.#tx, this.#settings);
      this.#statements = prepareStatements(this.#tx, this.#settings.table);
    }
    return this.#statements;
  }
}
