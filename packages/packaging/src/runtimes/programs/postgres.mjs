import { PostgresStore } from "@bq/idempotency-postgres";
import postgres from "postgres";

const url = process.env.POSTGRES_URL;
/** Several runtimes may be at it on a small machine. */
const patienceMs = 30_000;
const admin = postgres(url, { max: 4, connect_timeout: patienceMs / 1_000, onnotice() {} });
const effects = ({ namespace }) => admin(`${namespace}_effects`);

export const subject = {
  name: "PostgresStore",
  capabilities: ["ttl", "batch", "claims", "transactions"],
  async provision(context) {
    await new PostgresStore(admin, { table: context.namespace }).migrate();
    await admin`CREATE TABLE ${effects(context)} (effect TEXT)`;
  },
  destroy: (_backend, context) => admin`DROP TABLE ${admin(context.namespace)}, ${effects(context)}`,
  open: ({ namespace, ttlMs }) =>
    PostgresStore.connect(url, {
      maxConnections: 2,
      table: namespace,
      ttlMs,
      connectTimeoutMs: patienceMs,
    }),
  // Time passes by moving what is stored.
  async advance(ms, { namespace }) {
    const time = `${ms} milliseconds`;
    await admin`
      UPDATE ${admin(namespace)}
      SET
        expires_at = CASE WHEN expires_at > 'epoch' THEN expires_at - ${time}::interval ELSE expires_at END,
        claimed_until = claimed_until - ${time}::interval`;
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
    begin: (work) => admin.begin((tx) => work(tx)),
  },
};

export const end = () => admin.end();
