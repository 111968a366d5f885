import { randomBytes } from "node:crypto";
import {
  type Proxy as FaultyNetwork,
  type PgBouncerServer,
  type PostgresServer,
  startPgBouncer,
  startPostgres,
  startProxy,
} from "@bq/idempotency-test-servers";
import postgres from "postgres";
import { afterAll, inject, onTestFinished, vi } from "vitest";
import { type PostgresConnectOptions, PostgresStore } from "../../src/index.ts";

// Servers are started and processes forked in these tests, and the machine may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

/** A database that all files share, each with tables of its own. */
export const sharedUrl: string = inject("postgresUrl");

/** A name that no other test has. */
export function freshName(): string {
  return `t${randomBytes(8).toString("hex")}`;
}

/** A client of one test's own, to look at what the store wrote. */
export function plainClient(
  url: string = sharedUrl,
  options: Parameters<typeof postgres>[1] = {},
): postgres.Sql {
  const sql = postgres(url, { max: 4, onnotice() {}, ...options });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

/** A store of one test's own, on a table that is there already unless another name is given. */
export async function openStore(
  options: PostgresConnectOptions & { url?: string } = {},
): Promise<PostgresStore> {
  const { url = sharedUrl, ...rest } = options;
  const store = await PostgresStore.connect(url, { table: freshName(), maxConnections: 4, ...rest });
  onTestFinished(() => store.close());
  await store.migrate();
  return store;
}

/** A server of one test's own, to stop, kill or freeze. It waits for the disk, or a kill would lose what it acknowledged. */
export async function ownServer(): Promise<PostgresServer> {
  const server = await startPostgres({ durable: true });
  onTestFinished(() => server.stop());
  return server;
}

/** PgBouncer in transaction mode in front of the shared database, for a whole file. */
export async function sharedPgBouncer(): Promise<PgBouncerServer> {
  const server = await startPgBouncer(sharedUrl);
  afterAll(() => server.stop());
  return server;
}

/** A faulty network of one test's own, in front of the shared database or another. */
export async function ownProxy(target: string = sharedUrl): Promise<FaultyNetwork & { url: string }> {
  const url = new URL(target);
  const proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.stop());
  url.host = `${proxy.host}:${proxy.port}`;
  return Object.assign(proxy, { url: url.href });
}
