import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from "@bq/idempotency-test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const sqlite = "packages/sqlite/README.md";
const redis = "packages/redis/README.md";
const postgres = "packages/postgres/README.md";

/** What the READMEs leave to their reader is global here. The servers of the blocks become those of the test. */
const before = `
const order = { id: "order 1", orderId: "order 1", total: 12 };
const charge = async () => console.log("charged");
const envelope = (id) => ({ meta: { id }, data: order });
`;

describe("the blocks run as they stand in the README of", () => {
  let redisServer: RedisServer;
  let postgresServer: PostgresServer;
  let project: DocsProject;

  beforeAll(async () => {
    [redisServer, postgresServer] = await Promise.all([startRedis(), startPostgres()]);
    project = new DocsProject([sqlite, redis, postgres], {
      "redis://localhost:6379": redisServer.url,
      "postgres://shop@localhost/shop": postgresServer.url,
    });
  }, 120_000);

  afterAll(async () => {
    project[Symbol.dispose]();
    await Promise.all([redisServer.stop(), postgresServer.stop()]);
  });

  it("the SQLite store", () => {
    const scene = `${before}
import { SqliteStore } from "@bq/idempotency-sqlite";
import Database from "better-sqlite3";
const database = new Database("stock.db");
database.exec("CREATE TABLE stock (sku TEXT, count INTEGER); INSERT INTO stock VALUES ('cup', 5)");
const store = new SqliteStore(database);
await store.migrate();
Object.assign(globalThis, { charge, store, database, id: "a", sku: "cup" });
for (const block of [1, 2, 3, 4, 4, 5]) await import("./block-" + block + ".ts?" + Math.random());
console.log(database.prepare("SELECT count FROM stock").pluck().get());
`;
    expect(project.tryOut(sqlite, scene)).toBe("4\n");
  }, 120_000);

  it("the Redis store, but for the cluster and Sentinel", () => {
    const scene = `${before}
Object.assign(globalThis, { charge });
await import("./block-1.ts");
`;
    expect(project.tryOut(redis, scene)).toBe("");
  }, 120_000);

  it("the Postgres store", () => {
    const scene = `${before}
import { PostgresStore } from "@bq/idempotency-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import postgres from "postgres";
const sql = postgres("${postgresServer.url}", { onnotice() {} });
await sql\`CREATE TABLE orders (id text, order_id text, total int)\`;
const store = new PostgresStore(sql);
await store.migrate();
const message = { meta: { id: "a" }, data: { id: "order 1", total: 12 } };
const orders = pgTable("orders", { id: text(), total: integer() });
Object.assign(globalThis, { sql, store, message, orders });
for (const block of [1, 2, 2, 3]) await import("./block-" + block + ".ts?" + Math.random());
console.log((await sql\`SELECT id FROM orders\`).map(({ id }) => id).join());
process.exit();
`;
    expect(project.tryOut(postgres, scene)).toBe("order 1\n");
  }, 120_000);
});
