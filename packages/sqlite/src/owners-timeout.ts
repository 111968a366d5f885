import type Sqlite from "better-sqlite3";

/**
 * A borrowed connection comes with its owner's busy timeout, 5 seconds by default, and the driver would sleep that long on the
 * event loop's thread. This takes its place for a call and gives it back after.
 */
export class OwnersTimeout {
  readonly #database: Sqlite.Database;
  readonly #shortMs: number;
  readonly #setters = new Map<number, Sqlite.Statement>();
  #getter: Sqlite.Statement | undefined;

  constructor(database: Sqlite.Database, shortMs: number) {
    this.#database = database;
    this.#shortMs = shortMs;
  }

  shortened<T>(act: () => T): T {
    const ownersMs = this.#read();
    if (ownersMs <= this.#shortMs) return act();
    this.#set(this.#shortMs);
    try {
      return act();
    } finally {
      if (this.#database.open) this.#set(ownersMs);
    }
  }

  #read(): number {
    this.#getter ??= this.#database.prepare("PRAGMA busy_timeout").pluck(true).safeIntegers(false);
    return this.#getter.get() as number;
  }

  #set(ms: number): void {
    let setter = this.#setters.get(ms);
    if (setter === undefined) {
      setter = this.#database.prepare(`PRAGMA busy_timeout = ${ms}`);
      this.#setters.set(ms, setter);
    }
    // Not `run`: the driver refuses that while the owner iterates over a query, and this changes no data.
    setter.get();
  }
}
