import { SqliteStore } from "@bq/idempotency-sqlite";
import Database from "better-sqlite3";

const path = ({ namespace }) => `${namespace}.db`;

function withDatabase(context, use) {
  const database = new Database(path(context));
  try {
    database.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
    return use(database);
  } finally {
    database.close();
  }
}

export const subject = {
  name: "SqliteStore",
  capabilities: ["ttl", "batch", "claims", "transactions"],
  open: (context) => SqliteStore.connect(path(context), { ttlMs: context.ttlMs }),
  // Time passes by moving what is stored.
  advance(ms, context) {
    withDatabase(context, (database) => {
      const marks = "UPDATE babelqueue_idempotency SET expires_at = expires_at - ? WHERE expires_at > 0";
      database.prepare(marks).run(ms);
      database.prepare("UPDATE babelqueue_idempotency SET claimed_until = claimed_until - ?").run(ms);
    });
  },
  transactions: {
    work: "sync",
    write(tx, effect) {
      tx.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
      tx.prepare("INSERT INTO effects VALUES (?)").run(effect);
    },
    written(effect, context) {
      const query = "SELECT 1 FROM effects WHERE name = ?";
      return withDatabase(context, (database) => database.prepare(query).get(effect) !== undefined);
    },
    begin: (work, context) =>
      withDatabase(context, (database) => database.transaction(() => work(database)).immediate()),
  },
};
