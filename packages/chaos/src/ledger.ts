import postgres from "postgres";
import type { Effect } from "./judge/evidence.ts";

/** The ledger: a row for each effect, in a database that counts them whatever the workers believe. */
const table = `
CREATE TABLE IF NOT EXISTS effects (
  effect_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  message_id text NOT NULL,
  worker text NOT NULL,
  delivery integer NOT NULL,
  started_at_ms double precision NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp()
)`;

const insert = `
INSERT INTO effects (message_id, worker, delivery, started_at_ms)
VALUES ($1, $2, $3, $4)`;

/** Something that sends statements: a client, or a transaction of it. */
type Statements = Pick<postgres.Sql, "unsafe">;

export async function createLedger(url: string): Promise<void> {
  await withClient(url, (sql) => sql.unsafe(table));
}

/** Writes the effect, in whatever transaction these statements are in. */
export async function recordEffect(sql: Statements, effect: Effect): Promise<void> {
  const { id, worker, delivery, startedAtMs } = effect;
  await sql.unsafe(insert, [id, worker, delivery, startedAtMs], { prepare: true });
}

export async function readLedger(url: string): Promise<Effect[]> {
  const query = "SELECT message_id, worker, delivery, started_at_ms FROM effects ORDER BY started_at_ms";
  const rows = await withClient(url, (sql) => sql.unsafe(query));
  return rows.map((row) => ({
    id: String(row.message_id),
    worker: String(row.worker),
    delivery: Number(row.delivery),
    startedAtMs: Number(row.started_at_ms),
  }));
}

async function withClient<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice() {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
