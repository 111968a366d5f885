import postgres from "postgres";
import type { BatchContestant } from "../contestant.ts";

/** The limit of Postgres through this driver: one prepared statement that looks, and one that marks, for a hundred ids. */
export const limitPostgres: BatchContestant = {
  name: "postgres/100 per statement",
  side: "limit",
  backend: "postgres",
  mode: "batch",
  batchSize: 100,
  async open({ address }, effect) {
    const sql = postgres(address, { onnotice() {} });
    await sql`CREATE TABLE IF NOT EXISTS seen (id text PRIMARY KEY)`;
    return {
      async deliverBatch(ids) {
        const rows = await sql`SELECT id FROM seen WHERE id = ANY(${ids})`;
        const seen = new Set(rows.map((row) => row.id));
        const fresh = ids.filter((id) => !seen.has(id));
        for (const _ of fresh) effect();
        if (fresh.length > 0) {
          await sql`INSERT INTO seen SELECT unnest(${fresh}::text[]) ON CONFLICT DO NOTHING`;
        }
      },
      close: () => sql.end(),
    };
  },
};
