import postgres from "postgres";
import type { SingleContestant } from "../contestant.ts";

/** A transaction of postgres.js by hand: mark first, then the effect, and both are committed or neither. */
export const plainPostgresTransaction: SingleContestant = {
  name: "postgres/plain transaction",
  side: "plain",
  backend: "postgres",
  mode: "transaction",
  async open({ address }, effect) {
    const sql = postgres(address, { onnotice() {} });
    await sql`CREATE TABLE IF NOT EXISTS seen (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`;
    return {
      deliver: (id) =>
        sql.begin(async (tx) => {
          const { count } = await tx`INSERT INTO seen (id) VALUES (${id}) ON CONFLICT DO NOTHING`;
          if (count > 0) effect();
        }),
      close: () => sql.end(),
    };
  },
};
