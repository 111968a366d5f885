import type { CaseContext, Subject } from "@bq/idempotency-conformance";
import postgres from "postgres";
import { afterAll } from "vitest";
import { type PostgresConnectOptions, PostgresStore } from "../../src/index.ts";
import { sharedUrl } from "./database.ts";

type Tx = postgres.TransactionSql;
type Context = CaseContext<unknown>;

const capabilities = ["ttl", "batch", "claims", "transactions"] as const;

/** The parts of a subject that do not depend on how the store is opened: one table, and one for the effects, per case. */
function onFreshTables(url: string): Omit<Subject<unknown, Tx>, "name" | "open"> {
  const admin = postgres(sharedUrl, { max: 4, onnotice() {} });
  const caller = postgres(url, { max: 8, prepare: false, onnotice() {} });
  afterAll(async () => {
    await admin.end({ timeout: 1 });
    await caller.end({ timeout: 1 });
  });
  const effects = ({ namespace }: Pick<Context, "namespace">) => admin(`${namespace}_effects`);
  return {
    capabilities,
    async provision(context) {
      await new PostgresStore(admin, { table: context.namespace }).migrate();
      await admin`CREATE TABLE ${effects(context)} (effect TEXT)`;
    },
    async destroy(_backend, context) {
      await admin`DROP TABLE ${admin(context.namespace)}, ${effects(context)}`;
    },
    transactions: {
      work: "async",
      closesTx: true,
      async write(tx, effect, { namespace }) {
        await tx.unsafe(
          `INSERT INTO "${namespace}_effects" (effect) VALUES ('${effect.replaceAll("'", "''")}')`,
        );
      },
      async written(effect, context) {
        const found = await admin`SELECT FROM ${effects(context)} WHERE effect = ${effect}`;
        return found.count > 0;
      },
      begin: (work) => caller.begin(async (tx) => work(tx)) as ReturnType<typeof work>,
    },
  };
}

/** Lets time pass by moving what is stored. That it passes by the server's own clock is for the plain subject to show. */
export function withMovedClock(subject: Subject<unknown, Tx>): Subject<unknown, Tx> {
  const admin = postgres(sharedUrl, { max: 2, onnotice() {} });
  afterAll(() => admin.end({ timeout: 1 }));
  return {
    ...subject,
    async advance(ms, { namespace }) {
      // Postgres 13 takes no more than 2 147 483 647 of a unit from a text.
      const time = admin`make_interval(secs => ${ms / 1_000}::float8)`;
      await admin`
        UPDATE ${admin(namespace)}
        SET
          expires_at = CASE WHEN expires_at > 'epoch' THEN expires_at - ${time} ELSE expires_at END,
          claimed_until = claimed_until - ${time}`;
    },
  };
}

/** The store on connections of its own. */
export function ownConnectionSubject(
  name: string,
  options?: PostgresConnectOptions,
  url: string = sharedUrl,
): Subject<unknown, Tx> {
  return {
    ...onFreshTables(url),
    name,
    open: ({ namespace, ttlMs }) =>
      PostgresStore.connect(url, { maxConnections: 2, ...options, table: namespace, ttlMs }),
  };
}

/** The store on a borrowed client, the same for every handle. */
export function borrowedClientSubject(name: string, client: postgres.Sql): Subject<unknown, Tx> {
  afterAll(() => client.end({ timeout: 1 }));
  return {
    ...onFreshTables(sharedUrl),
    name,
    open: ({ namespace, ttlMs }) => new PostgresStore(client, { table: namespace, ttlMs }),
  };
}
