import type postgres from "postgres";
import { expect, it } from "vitest";
import { freshName, openStore, plainClient } from "./support/database.ts";

/** What a consumer in Go does with the table that it shares with us: exactly its statements, which know three columns. */
class GoPeer {
  readonly #sql: postgres.Sql;
  readonly #table: string;
  readonly #ttl: string | null;

  constructor(sql: postgres.Sql, table: string, ttl: string | null = null) {
    this.#sql = sql;
    this.#table = table;
    this.#ttl = ttl;
  }

  async seen(id: string): Promise<boolean> {
    const rows = await this.#sql`
      SELECT 1 FROM ${this.#sql(this.#table)}
      WHERE message_id = ${id} AND (expires_at IS NULL OR expires_at > now())`;
    return rows.count === 1;
  }

  /** Tells whether it was the first to remember the id. */
  async remember(id: string): Promise<boolean> {
    const rows = await this.#sql`
      INSERT INTO ${this.#sql(this.#table)} (message_id, expires_at)
      VALUES (${id}, now() + ${this.#ttl}::interval)
      ON CONFLICT (message_id) DO UPDATE
      SET created_at = now(), expires_at = EXCLUDED.expires_at
      WHERE ${this.#sql(this.#table)}.expires_at IS NOT NULL AND ${this.#sql(this.#table)}.expires_at <= now()
      RETURNING message_id`;
    return rows.count === 1;
  }

  async forget(id: string): Promise<void> {
    await this.#sql`DELETE FROM ${this.#sql(this.#table)} WHERE message_id = ${id}`;
  }
}

async function together(ttl: string | null = null) {
  const table = freshName();
  const sql = plainClient();
  return { store: await openStore({ table }), go: new GoPeer(sql, table, ttl), sql, table };
}

it("a mark of either is a mark to the other, and so is its absence", async () => {
  const { store, go } = await together();
  await store.remember("ours");
  expect(await go.seen("ours")).toBe(true);
  expect(await go.remember("ours")).toBe(false);
  expect(await go.remember("theirs")).toBe(true);
  expect(await store.seen("theirs")).toBe(true);
  expect(await store.claim("theirs", 60_000)).toEqual({ status: "processed" });
  await store.forget("theirs");
  expect(await go.seen("theirs")).toBe(false);
  await go.forget("ours");
  expect(await store.seen("ours")).toBe(false);
});

it("a mark with a TTL expires for both", async () => {
  const { store, go } = await together("1 millisecond");
  await go.remember("id");
  while (await store.seen("id"));
  expect(await go.seen("id")).toBe(false);
  expect(await go.remember("id")).toBe(true);
});

it("a claim of ours is no mark to the other, which may write its own over it", async () => {
  const { store, go, sql, table } = await together("1 day");
  const claimed = await store.claim("id", 60_000);
  if (claimed.status !== "claimed") throw new Error("The id was free.");
  expect(await go.seen("id")).toBe(false);
  expect(await go.remember("id")).toBe(true);
  // Its statement leaves our token and lease in the row.
  const [row] = await sql`SELECT claim_token, claimed_until > now() AS held FROM ${sql(table)}`;
  expect(row).toEqual({ claim_token: claimed.claim.token, held: true });

  expect(await store.seen("id")).toBe(true);
  expect(await store.claim("id", 60_000)).toEqual({ status: "processed" });
  expect(await store.renew(claimed.claim, 60_000)).toBe(false);
  expect(await store.release(claimed.claim)).toBe(false);
  expect(await store.purge()).toBe(0);
  expect(await store.seen("id")).toBe(true);
  expect(await store.commit(claimed.claim)).toBe(false);
  expect(await go.seen("id")).toBe(true);
});

it("a mark of the other's that expired over a claim of ours is absent, whatever the claim says", async () => {
  const { store, go } = await together("1 millisecond");
  const claimed = await store.claim("id", 600_000);
  if (claimed.status !== "claimed") throw new Error("The id was free.");
  await go.remember("id");
  while (await go.seen("id"));
  expect(await store.seen("id")).toBe(false);
  expect(await store.renew(claimed.claim, 60_000)).toBe(false);
  expect(await store.claim("id", 60_000)).toMatchObject({ status: "claimed" });
});

it("a mark in a transaction of ours is none to the other before that commits", async () => {
  const { store, go } = await together();
  await store.transact("id", async () => {
    expect(await go.seen("id")).toBe(false);
  });
  expect(await go.seen("id")).toBe(true);
});
