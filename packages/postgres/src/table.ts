import { ask, type Client, type Parameter } from "./ask.ts";
import { type GroupStatements, writeGroupStatements } from "./group-statements.ts";
import { Groups } from "./groups.ts";
import type { Settings } from "./options.ts";
import { retrying } from "./retry.ts";
import { failure, isFarewell, isTransient } from "./sqlstate.ts";
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
  readonly #groups: Groups | undefined;

  private constructor(
    client: Client,
    settings: Settings,
    statements: Statements,
    retries: number,
    shared?: GroupStatements,
  ) {
    this.#client = client;
    this.settings = settings;
    this.#statements = statements;
    this.#retries = retries;
    this.#groups = shared && new Groups((sql, parameters) => this.#run(sql, parameters), statements, shared);
  }

  static of(client: Client, settings: Settings): Table {
    const { quoted } = settings.table;
    return new Table(
      client,
      settings,
      writeStatements(quoted),
      settings.retries,
      writeGroupStatements(quoted),
    );
  }

  /**
   * The same table inside a transaction. A failed statement is not tried again there, for the whole transaction has failed, and
   * none is shared, for the calls of others are not part of the transaction.
   */
  within(tx: Client): Table {
    return new Table(tx, this.settings, this.#statements, 0);
  }

  /** The TTL as a statement takes it: NULL for a mark that never expires. */
  get ttl(): Parameter {
    const { ttlMs } = this.settings;
    return ttlMs === undefined ? null : String(ttlMs);
  }

  /** Runs a statement, its own or one that is shared, and gives its answer. Whatever goes wrong becomes a `StoreError`. */
  async ask({ operation, id, statement, parameters }: Request): Promise<string | undefined> {
    try {
      return await (this.#groups?.has(statement)
        ? this.#groups.ask(statement, parameters)
        : this.#run(this.#statements[statement], parameters));
    } catch (error) {
      throw failure(error, operation, this.settings.table.quoted, id);
    }
  }

  #run(sql: string, parameters: readonly Parameter[]): Promise<string | undefined> {
    return retrying(this.#retries, () => ask(this.#client, sql, parameters), isWorthRepeating);
  }
}

/** The server gave the statement up, or it was never sent. */
function isWorthRepeating(error: unknown): boolean {
  return isTransient(error) || isFarewell(error);
}
