import { eq } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { expect, it } from "vitest";
import { freshName, openStore, plainClient } from "./support/database.ts";

const name = freshName();
const orders = pgTable(name, { number: text("number").primaryKey(), state: text("state") });

/** Drizzle on the transaction that `transact` opened. */
function drizzleOn(tx: postgres.TransactionSql) {
  return drizzle(tx as unknown as postgres.Sql);
}

async function withOrders() {
  const sql = plainClient();
  await sql`CREATE TABLE IF NOT EXISTS ${sql(name)} (number TEXT PRIMARY KEY, state TEXT)`;
  const stateOf = async (number: string) =>
    (await sql`SELECT state FROM ${sql(name)} WHERE number = ${number}`.values()).flat();
  return { sql, store: await openStore(), stateOf };
}

it("what the work of transact writes through Drizzle is kept with the mark", async () => {
  const { store, stateOf } = await withOrders();
  const result = await store.transact("message-1", async (tx) => {
    const db = drizzleOn(tx);
    await db.insert(orders).values({ number: "4711", state: "new" });
    await db.update(orders).set({ state: "paid" }).where(eq(orders.number, "4711"));
    return db.select().from(orders).where(eq(orders.number, "4711"));
  });
  expect(result).toEqual({ status: "ran", value: [{ number: "4711", state: "paid" }] });
  expect(await store.transact("message-1", () => "again")).toEqual({ status: "processed" });
  expect(await stateOf("4711")).toEqual(["paid"]);
});

it("what the work of transact writes through Drizzle is dropped with the mark, and the driver's error is the cause", async () => {
  const { store, stateOf } = await withOrders();
  const failing = store.transact("message-2", async (tx) => {
    const db = drizzleOn(tx);
    await db.insert(orders).values({ number: "4712" });
    await db.insert(orders).values({ number: "4712" });
  });
  await expect(failing).rejects.toMatchObject({ cause: { code: "23505" } });
  expect(await store.seen("message-2")).toBe(false);
  expect(await stateOf("4712")).toEqual([]);
});

it("a transaction that Drizzle runs in can carry the mark", async () => {
  const { sql, store, stateOf } = await withOrders();
  const handle = (id: string, number: string) =>
    sql.begin(async (tx) => {
      const found = await store.within(tx).markFirst(id);
      if (found.status !== "marked") return found.status;
      // A transaction of `sql.begin` does not carry the client's options, which Drizzle reads.
      await drizzleOn(Object.assign(tx, { options: sql.options }))
        .insert(orders)
        .values({ number, state: "new" });
      return "ran";
    });
  expect(await handle("message-3", "4713")).toBe("ran");
  expect(await handle("message-3", "4713")).toBe("processed");
  expect(await stateOf("4713")).toEqual(["new"]);
});
