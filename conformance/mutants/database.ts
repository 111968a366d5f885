/** What is stored of one id: a mark, when it has no token, or a claim. */
export interface Entry {
  readonly token?: string;
  /** Who took the claim. No store needs that; it tells some of the broken ones where to break. */
  readonly holder?: object;
  /** When the mark expires or the lease is over. */
  readonly until: number;
}

/** Changes that wait for a commit. */
export class Transaction {
  readonly entries: Map<string, Entry | undefined> = new Map();
  readonly effects: Set<string> = new Set();
  open = true;

  write(effect: string): void {
    if (!this.open) throw new Error("The transaction is over.");
    this.effects.add(effect);
  }
}

/** A database in memory, as slow to answer as a network makes it, with a clock that the test moves. */
export class Database {
  nowMs = 1_000;
  readonly entries: Map<string, Entry> = new Map();
  readonly effects: Set<string> = new Set();
  /** Keys that a transaction is about to mark; the promise resolves when it is over. */
  readonly locks: Map<string, Promise<void>> = new Map();

  /** One way to the server, or back. */
  async hop(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  commit(transaction: Transaction): void {
    for (const [key, entry] of transaction.entries) {
      if (entry) this.entries.set(key, entry);
      else this.entries.delete(key);
    }
    for (const effect of transaction.effects) this.effects.add(effect);
  }

  /** Waits for the key and holds it until the returned function is called. */
  async lock(key: string): Promise<() => void> {
    while (this.locks.has(key)) await this.locks.get(key);
    let unlock = () => {};
    const over = new Promise<void>((resolve) => {
      unlock = () => {
        this.locks.delete(key);
        resolve();
      };
    });
    this.locks.set(key, over);
    return unlock;
  }
}
