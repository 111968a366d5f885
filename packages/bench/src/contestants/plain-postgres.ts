import postgres from "postgres";
import type { SingleContestant } from "../contestant.ts";

/** postgres.js by hand, with its default settings: one prepared statement per call, ten connections as ours. */
export const plainPostgres: SingleContestant = {
  name: "postgres/plain",
  side: "plain",
  backend: "postgres",
  mode: "seen-set",
  async open({ address }, effect) {
    const sql = postgres(address, { onnotice() {} });
    await sql`CREATE TABLE IF NOT EXISTS seen (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`;
    return {
      async deliver(id) {
        const rows = await sql`SELECT 1 FROM seen WHERE id = ${id}`;
        if (rows.length > 0) return;
        effect();
        await sql`INSERT INTO seen (id) VALUES (${id}) ON CONFLICT DO NOTHING`;
      },
      close: () => sql.end(),
    };
  },
};
