const order = "interface Order { id: string; orderId: string; total: number }";
const envelope = 'import type { Envelope } from "@bq/idempotency-core";';
const charge = "declare function charge(order: unknown): Promise<void>;";
const postgresStore = 'declare const store: import("@bq/idempotency-postgres").PostgresStore;';
const sqliteStore = 'declare const store: import("@bq/idempotency-sqlite").SqliteStore;';

/**
 * What the blocks of a page leave to their reader: a name, and a line that declares it. A block gets the lines of the names that it
 * uses and does not make itself.
 */
export const leftToReader: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {},
  "SECURITY.md": {
    store: sqliteStore,
    charge,
    wrap: 'import { wrap } from "@bq/idempotency-core";',
    Delivery: "interface Delivery { sender: string; meta: { id?: string } }",
  },
  "packages/core/README.md": {},
  "packages/postgres/README.md": {
    Order: order,
    store: postgresStore,
    sql: 'declare const sql: import("postgres").Sql;',
    message: 'declare const message: import("@bq/idempotency-core").Envelope<Order>;',
    orders: 'declare const orders: import("drizzle-orm/pg-core").PgTableWithColumns<any>;',
  },
  "packages/redis/README.md": {
    Order: order,
    charge,
    RedisStore: 'import { RedisStore } from "@bq/idempotency-redis";',
  },
  "packages/sqlite/README.md": {
    Order: order,
    charge,
    store: sqliteStore,
    database: 'declare const database: import("better-sqlite3").Database;',
    id: "declare const id: string;",
    sku: "declare const sku: string;",
  },
  "conformance/README.md": {
    Subject: 'import type { Subject } from "@bq/idempotency-conformance";',
    contractCases: 'import { contractCases } from "@bq/idempotency-conformance";',
    runOperations: 'import { runOperations } from "@bq/idempotency-conformance";',
    subject: "declare const subject: Subject;",
    RedisStore: 'import { RedisStore } from "@bq/idempotency-redis";',
    client: 'declare const client: import("ioredis").Redis;',
    PostgresStore: 'import { PostgresStore } from "@bq/idempotency-postgres";',
    postgres: 'import type postgres from "postgres";',
    sql: 'declare const sql: import("postgres").Sql;',
    test: "declare function test(title: string, run: () => unknown): void;",
    fc: 'import fc from "fast-check";',
    MyStore: 'import { InMemoryStore as MyStore } from "@bq/idempotency-core";',
  },
  "docs/start.md": {},
  "docs/guarantee.md": {
    Order: order,
    Envelope: envelope,
    store: sqliteStore,
    wrapClaiming: 'import { wrapClaiming } from "@bq/idempotency-core";',
  },
  "docs/recipes.md": {
    consumer: 'declare const consumer: import("kafkajs").Consumer;',
    onceEachBatch: 'import { onceEachBatch } from "./kafka.mts";',
    store: sqliteStore,
    charge,
  },
  "docs/own-store.md": {},
  "docs/operating.md": {
    store: sqliteStore,
    charge,
    idsToReplay: "declare const idsToReplay: string[];",
  },
  "docs/migrating/redis-lock.md": {},
  "docs/migrating/powertools.md": {},
  "docs/migrating/babelqueue-core.md": {},
};

const orders = `
export interface Order {
  meta: { id: string };
  data: { order: number };
}

export async function charge({ data }: Order) {
  console.log(\`charged order \${data.order}\`);
}
`;

const payments = `
import { Injectable } from "@nestjs/common";
import type { Order } from "./orders.consumer.js";

@Injectable()
export class Payments {
  async charge(order: Order, _signal: AbortSignal) {
    process.stdout.write(\`charged order \${order.data.order}\\n\`);
  }
}
`;

/** The part of the package that the page speaks of; it is not installed here. */
const babelqueueCore = `
declare module "@babelqueue/core" {
  interface Envelope { trace_id: string; data: Record<string, unknown>; meta: { id: string } }
  type Handler = (envelope: Envelope) => void | Promise<void>;
  class InMemoryStore {
    seen(id: string): boolean;
    remember(id: string): void;
    forget(id: string): void;
  }
  function Wrap(store: InMemoryStore, handler: Handler): Handler;
}
`;

/** Files of the reader's own that a page imports: name and content. */
export const filesOfReader: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "docs/recipes.md": { "payments.ts": payments },
  "docs/migrating/redis-lock.md": { "orders.mts": orders },
  "docs/migrating/powertools.md": { "orders.mts": orders },
  "docs/migrating/babelqueue-core.md": {
    "babelqueue-core.d.ts": babelqueueCore,
    "orders.mts": `
      export async function charge({ number }: Record<string, unknown>) {
        console.log(\`charged order \${number}\`);
      }
    `,
  },
};
