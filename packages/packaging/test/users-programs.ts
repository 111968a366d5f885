/** Uses what needs no other package and no types of Node. */
export const withoutDriver: string = `
import { type ClaimContext, type IdempotencyEvent, InMemoryStore, wrap, wrapBatch, wrapClaiming } from "@bq/idempotency-core";
import { GroupCommit, OptionReader } from "@bq/idempotency-core/backend";
import { describeStoreContract, type Subject } from "@bq/idempotency-conformance";
import { RedisStore } from "@bq/idempotency-redis";

type Order = { meta: { id: string }; total: number };
const store = new InMemoryStore({ ttlMs: 1_000 });
const observe = (event: IdempotencyEvent): string => event.type;
const handler = (message: Order) => String(message.total);
export const one: (message: Order) => Promise<string | undefined> = wrap(store, handler, { observe });
export const claimed = wrapClaiming(store, (message: Order, context: ClaimContext) => context.assertHeld());
export const many = wrapBatch(store, async (message: Order) => message.total);
export const group = new GroupCommit<string, boolean>({ operation: "seen", perform: (ids) => ids.map(() => true) });
export const reader: OptionReader = new OptionReader("mine", {}, ["ttlMs"]);
export const subject: Subject = { name: "mine", open: () => store };
export const register: typeof describeStoreContract = describeStoreContract;
export const redis: Promise<RedisStore> = RedisStore.connect("redis://127.0.0.1", { ttlMs: 1_000 });
// @ts-expect-error The types are there: a store is needed.
wrap({}, handler);
// @ts-expect-error The types are there: a time is a number.
RedisStore.connect("redis://127.0.0.1", { ttlMs: "1s" });
`;

/** Uses every store on a client of the user's own, and metrics. */
export const withDrivers: string = `
import { wrapTransactional } from "@bq/idempotency-core";
import { observeWithMeter } from "@bq/idempotency-core/otel";
import { PostgresStore } from "@bq/idempotency-postgres";
import { RedisStore } from "@bq/idempotency-redis";
import { SqliteStore } from "@bq/idempotency-sqlite";
import Database from "better-sqlite3";
import { Redis } from "ioredis";
import postgres from "postgres";

type Order = { meta: { id: string }; total: number };
const message: Order = { meta: { id: "#1" }, total: 1 };
export const redis = new RedisStore(new Redis("redis://127.0.0.1"), { ttlMs: 1_000 });
const sqlite = new SqliteStore(new Database("marks.db"));
const pg = new PostgresStore(postgres("postgres://127.0.0.1/shop"));
export const written = wrapTransactional(pg, async ({ total }: Order, tx) => tx\`INSERT INTO orders VALUES (\${total})\`);
const insert = wrapTransactional(sqlite, ({ total }: Order, tx) => tx.prepare("INSERT INTO orders VALUES (?)").run(total));
export const rows: Promise<number | undefined> = insert(message).then((result) => result?.changes);
export const observe = observeWithMeter;
// @ts-expect-error The types are there: a client is needed.
new PostgresStore("postgres://127.0.0.1/shop");
`;
