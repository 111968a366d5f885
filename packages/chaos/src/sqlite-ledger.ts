import Database from "better-sqlite3";
import type { Effect } from "./judge/evidence.ts";

const table = `
CREATE TABLE IF NOT EXISTS effects (
  effect_id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  worker TEXT NOT NULL,
  delivery INTEGER NOT NULL,
  started_at_ms REAL NOT NULL
)`;

const insert = `
INSERT INTO effects (message_id, worker, delivery, started_at_ms)
VALUES (?, ?, ?, ?)`;

/** Makes the ledger in the file of the marks, so that an effect and its mark can commit together. */
export function createSqliteLedger(path: string): void {
  withDatabase(path, (database) => database.exec(table));
}

/** Writes the effect in the transaction that this connection is in. */
export function recordSqliteEffect(database: Database.Database, effect: Effect): void {
  const { id, worker, delivery, startedAtMs } = effect;
  database.prepare(insert).run(id, worker, delivery, startedAtMs);
}

export function readSqliteLedger(path: string): Effect[] {
  const query = "SELECT message_id, worker, delivery, started_at_ms FROM effects ORDER BY started_at_ms";
  return withDatabase(path, (database) =>
    database
      .prepare<[], { message_id: string; worker: string; delivery: number; started_at_ms: number }>(query)
      .all()
      .map((row) => ({
        id: row.message_id,
        worker: row.worker,
        delivery: row.delivery,
        startedAtMs: row.started_at_ms,
      })),
  );
}

function withDatabase<T>(path: string, work: (database: Database.Database) => T): T {
  const database = new Database(path);
  try {
    // What a worker that was killed left behind in the log is taken over with this.
    database.pragma("journal_mode = WAL");
    return work(database);
  } finally {
    database.close();
  }
}
