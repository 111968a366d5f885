import Database from "better-sqlite3";
import type { BatchContestant } from "../contestant.ts";

/** The limit of SQLite: one statement looks for a hundred ids, and a hundred inserts in one transaction share one wait for the disk. */
export const limitSqlite: BatchContestant = {
  name: "sqlite/100 per transaction",
  side: "limit",
  backend: "sqlite",
  mode: "batch",
  batchSize: 100,
  async open({ address }, effect) {
    const database = new Database(address);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID");
    const look = database.prepare("SELECT id FROM seen WHERE id IN (SELECT value FROM json_each(?))").pluck();
    const mark = database.prepare("INSERT INTO seen VALUES (?) ON CONFLICT DO NOTHING");
    const markAll = database.transaction((ids: readonly string[]) => {
      for (const id of ids) mark.run(id);
    });
    return {
      async deliverBatch(ids) {
        const seen = new Set(look.all(JSON.stringify(ids)));
        const fresh = ids.filter((id) => !seen.has(id));
        for (const _ of fresh) effect();
        if (fresh.length > 0) markAll.immediate(fresh);
      },
      async close() {
        database.close();
      },
    };
  },
};
