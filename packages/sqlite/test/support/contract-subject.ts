import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CaseContext, Subject } from "@bq/idempotency-conformance";
import type Sqlite from "better-sqlite3";
import Database from "better-sqlite3";
import { SqliteStore } from "../../src/index.ts";

export interface Backend {
  readonly folder: string;
  readonly path: string;
  /** Connections that a borrowing store was given; the store does not end them. */
  readonly lent: Map<SqliteStore, Sqlite.Database>;
}

export type Open = (context: CaseContext<Backend>) => Promise<SqliteStore>;

/** What the contract suite needs to know of a store that `open` makes. */
export function subject(name: string, open: Open): Subject<Backend, Sqlite.Database> {
  return {
    name,
    capabilities: ["ttl", "batch", "claims", "transactions"],
    provision: () => {
      const folder = mkdtempSync(join(tmpdir(), "bq-sqlite-contract-"));
      return { folder, path: join(folder, "marks.db"), lent: new Map() };
    },
    destroy: ({ folder }) => rmSync(folder, { recursive: true, force: true }),
    open,
    close: async (store, { backend }) => {
      const ours = store as SqliteStore;
      await ours.close();
      backend.lent.get(ours)?.close();
    },
    transactions: {
      work: "sync",
      write: (tx, effect) => {
        tx.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
        tx.prepare("INSERT INTO effects VALUES (?)").run(effect);
      },
      written: (effect, { backend }) =>
        withDatabase(backend.path, (database) => {
          database.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
          return database.prepare("SELECT 1 FROM effects WHERE name = ?").get(effect) !== undefined;
        }),
      begin: (work, { backend }) =>
        withDatabase(backend.path, (database) => database.transaction(() => work(database)).immediate()),
    },
  };
}

function withDatabase<R>(path: string, use: (database: Sqlite.Database) => R): R {
  const database = new Database(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** Lends a connection whose owner has set it up in his own way. */
export function lending(setUp: (database: Sqlite.Database) => void): Open {
  return async ({ backend, ttlMs }) => {
    const database = new Database(backend.path);
    setUp(database);
    const store = new SqliteStore(database, { ttlMs });
    backend.lent.set(store, database);
    await store.migrate();
    return store;
  };
}

/** Moves the clock by moving what is stored; that marks and leases end in real time is tested beside the suite. */
export function advance(ms: number, { backend }: CaseContext<Backend>): void {
  withDatabase(backend.path, (database) => {
    database
      .prepare("UPDATE babelqueue_idempotency SET expires_at = expires_at - ? WHERE expires_at > 0")
      .run(ms);
    database.prepare("UPDATE babelqueue_idempotency SET claimed_until = claimed_until - ?").run(ms);
  });
}
