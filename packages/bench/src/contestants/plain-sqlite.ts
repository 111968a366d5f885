import Database from "better-sqlite3";
import type { SingleContestant } from "../contestant.ts";

/** better-sqlite3 by hand: prepared statements, and the same durability as ours. */
export const plainSqlite: SingleContestant = {
  name: "sqlite/plain",
  side: "plain",
  backend: "sqlite",
  mode: "seen-set",
  async open({ address }, effect) {
    const database = new Database(address);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID");
    const look = database.prepare("SELECT 1 FROM seen WHERE id = ?").pluck();
    const mark = database.prepare("INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING");
    return {
      async deliver(id) {
        if (look.get(id) !== undefined) return;
        effect();
        mark.run(id, Date.now());
      },
      async close() {
        database.close();
      },
    };
  },
};
