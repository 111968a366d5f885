import { ask, type Client, type Parameter } from "./ask.ts";
import type { Settings } from "./options.ts";
import { retrying } from "./retry.ts";
import { failure } from "./sqlstate.ts";
import { type Statements, writeStatements } from "./statements.ts";

/** A store method that runs one statement; the method's name and the id are for the error, should it fail. */
export interface Request {
  readonly operation: string;
  readonly id?: string | undefined;
  readonly statement: keyof Statements;
  readonly parameters: readonly Parameter[];
}

/** The table of a store, as one client sees it: in statements that are transactions of their own, or inside a transaction. */
export class Table {
  readonly settings: Settings;
  readonly #client: Client;
  readonly #statements: Statements;
  readonly #retries: number;

  private constructor(client: Client, settings: Settings, statements: Statements, retries: number) {
    this.#client = client;
    this.settings = settings;
    this.#statements = statements;
    this.#retries = retries;
  }

  static of(client: Client, settings: Settings): Table {
    return new Table(client, settings, writeStatements(settings.table.quoted), settings.retries);
  }

  /** The same table inside a transaction. A failed statement is not tried again there: the whole transaction has failed. */
  within(tx: Client): Table {
    return new Table(tx, this.settings, this.#statements, 0);
  }

  /** The TTL as a statement takes it: NULL for a mark that never expires. */
  get ttl(): Parameter {
    const { ttlMs } = this.settings;
    return ttlMs === undefined ? null : String(ttlMs);
  }

  /** Runs a statement and gives its answer. Whatever goes wrong becomes a `StoreError`. */
  async ask({ operation, id, statement, parameters }: Request): Promise<string | undefined> {
    const text = this.#statements[statement];
    try {
      return await retrying(this.#retries, () => ask(this.#client, text, parameters));
    } catch (error) {
      throw failure(error, operation, this.settings.table.quoted, id);
    }
  }
}
