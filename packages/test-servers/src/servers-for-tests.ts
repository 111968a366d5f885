import postgres from "postgres";
import { createDatabase, startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";

/** A Redis server that the tests may share with others: they use prefixes of their own and never flush it. */
export interface RedisForTests extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

/** A Postgres server that the tests may share with others: each works in databases of its own. */
export interface PostgresForTests extends AsyncDisposable {
  readonly url: string;
  /** Creates an empty database and gives its URL. It is dropped by `stop()`. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** The server given by `BQ_TEST_REDIS_URL`, else one started for the tests. To stop, kill or flush a server, start your own. */
export async function redisForTests(): Promise<RedisForTests> {
  const url = process.env.BQ_TEST_REDIS_URL;
  if (!url) return startRedis();
  const stop = async () => {};
  return { url, stop, [Symbol.asyncDispose]: stop };
}

/** The server given by `BQ_TEST_POSTGRES_URL`, of a role that may create databases, else one started for the tests. */
export async function postgresForTests(): Promise<PostgresForTests> {
  const url = process.env.BQ_TEST_POSTGRES_URL;
  if (!url) return startPostgres();
  const created: string[] = [];
  const stop = async () => {
    for (const database of created.splice(0)) await dropDatabase(url, database);
  };
  return {
    url,
    createDatabase: async () => {
      const database = await createDatabase(url);
      created.push(database);
      return database;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function dropDatabase(serverUrl: string, databaseUrl: string): Promise<void> {
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    // By force: a failed test may have left a connection open.
    await sql`DROP DATABASE IF EXISTS ${sql(new URL(databaseUrl).pathname.slice(1))} WITH (FORCE)`;
  } finally {
    await sql.end();
  }
}
