import { randomUUID } from "node:crypto";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis } from "@bq/idempotency-test-servers";
import Database from "better-sqlite3";
import { Redis } from "ioredis";
import postgres from "postgres";
import type { Backend, Place } from "./contestant.ts";

/** A backend that the contestants work on, one after another. */
export interface RunningBackend extends AsyncDisposable {
  /** What it is, for the results: `PostgreSQL 18.1, fsync on`. */
  readonly description: string;
  /** Removes whatever the one before left, and says where the next one works. */
  clear(): Promise<Place>;
}

/** Starts a backend on this machine, as durable as one in production. */
export function startBackend(backend: Backend): Promise<RunningBackend> {
  return starts[backend]();
}

/** Is the folder for temporary files in memory? There, waiting for the disk takes no time, and nothing could be compared. */
export async function temporaryFolderIsInMemory(): Promise<boolean> {
  const tmpfs = 0x01021994;
  return (await statfs(tmpdir())).type === tmpfs;
}

const starts: Record<Backend, () => Promise<RunningBackend>> = {
  async memory() {
    return {
      description: "inside the process",
      clear: async () => ({ address: "" }),
      [Symbol.asyncDispose]: async () => {},
    };
  },

  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), "bq-bench-"));
    const remove = (path: string) => rm(path, { recursive: true, force: true });
    let last: string | undefined;
    return {
      description: `SQLite ${sqliteVersion()}, WAL, synchronous FULL`,
      clear: async () => {
        if (last !== undefined) for (const end of ["", "-wal", "-shm"]) await remove(last + end);
        last = join(folder, `${randomUUID()}.db`);
        return { address: last };
      },
      [Symbol.asyncDispose]: () => remove(folder),
    };
  },

  async redis() {
    const server = await startRedis();
    const client = new Redis(server.url);
    const version = /redis_version:(\S+)/.exec(await client.info("server"))?.[1] ?? "of unknown version";
    return {
      description: `Redis ${version}, local, no persistence`,
      clear: async () => {
        await client.flushall();
        return { address: server.url };
      },
      [Symbol.asyncDispose]: async () => {
        client.disconnect();
        await server.stop();
      },
    };
  },

  async postgres() {
    const server = await startPostgres({ durable: true });
    const sql = postgres(server.url, { max: 1, onnotice() {} });
    const [row] = await sql`SHOW server_version`;
    return {
      description: `PostgreSQL ${row?.server_version}, local, fsync on`,
      clear: async () => {
        await sql`DROP SCHEMA public CASCADE`;
        await sql`CREATE SCHEMA public`;
        return { address: server.url };
      },
      [Symbol.asyncDispose]: async () => {
        await sql.end();
        await server.stop();
      },
    };
  },
};

function sqliteVersion(): string {
  const database = new Database(":memory:");
  try {
    return String(database.prepare("SELECT sqlite_version()").pluck().get());
  } finally {
    database.close();
  }
}
