// What the contract suite is run on, from the installed packages. Copied into the project of the run.
import { InMemoryStore } from "@bq/idempotency-core";

const marksAndClaims = ["ttl", "batch", "claims"];

/** Several runtimes may be at it on a small machine. */
const deadlineMs = 180_000;

const subjects = {
  async memory() {
    return {
      name: "InMemoryStore",
      deadlineMs,
      capabilities: marksAndClaims,
      provision: ({ ttlMs }) => new InMemoryStore({ ttlMs }),
      open: ({ backend }) => backend,
    };
  },

  async redis() {
    const { RedisStore } = await import("@bq/idempotency-redis");
    return {
      name: "RedisStore",
      deadlineMs,
      capabilities: marksAndClaims,
      open: ({ namespace, ttlMs }) =>
        RedisStore.connect(process.env.REDIS_URL, { prefix: `${namespace}:`, ttlMs }),
    };
  },

  async postgres() {
    const { PostgresStore } = await import("@bq/idempotency-postgres");
    const { default: postgres } = await import("postgres");
    const admin = postgres(process.env.POSTGRES_URL, { max: 4, onnotice() {} });
    const effects = ({ namespace }) => admin(`${namespace}_effects`);
    return {
      name: "PostgresStore",
      deadlineMs,
      capabilities: [...marksAndClaims, "transactions"],
      async provision(context) {
        await new PostgresStore(admin, { table: context.namespace }).migrate();
        await admin`CREATE TABLE ${effects(context)} (effect TEXT)`;
      },
      destroy: (_backend, context) => admin`DROP TABLE ${admin(context.namespace)}, ${effects(context)}`,
      open: ({ namespace, ttlMs }) =>
        PostgresStore.connect(process.env.POSTGRES_URL, { maxConnections: 2, table: namespace, ttlMs }),
      transactions: {
        work: "async",
        closesTx: true,
        write: (tx, effect, context) => tx`INSERT INTO ${effects(context)} (effect) VALUES (${effect})`,
        async written(effect, context) {
          const found = await admin`SELECT FROM ${effects(context)} WHERE effect = ${effect}`;
          return found.count > 0;
        },
        begin: (work) => admin.begin(work),
      },
      end: () => admin.end(),
    };
  },

  async sqlite() {
    const { SqliteStore } = await import("@bq/idempotency-sqlite");
    const { default: Database } = await import("better-sqlite3");
    const path = ({ namespace }) => `${namespace}.db`;
    const inDatabase = (context, use) => {
      const database = new Database(path(context));
      try {
        database.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
        return use(database);
      } finally {
        database.close();
      }
    };
    return {
      name: "SqliteStore",
      deadlineMs,
      capabilities: [...marksAndClaims, "transactions"],
      open: (context) => SqliteStore.connect(path(context), { ttlMs: context.ttlMs }),
      transactions: {
        work: "sync",
        write(tx, effect) {
          tx.exec("CREATE TABLE IF NOT EXISTS effects (name TEXT)");
          tx.prepare("INSERT INTO effects VALUES (?)").run(effect);
        },
        written: (effect, context) =>
          inDatabase(
            context,
            (database) => database.prepare("SELECT 1 FROM effects WHERE name = ?").get(effect) !== undefined,
          ),
        begin: (work, context) =>
          inDatabase(context, (database) => database.transaction(() => work(database)).immediate()),
      },
    };
  },
};

/** The subjects that the command line names. */
export const chosen = await Promise.all(process.argv.slice(2).map((name) => subjects[name]()));
