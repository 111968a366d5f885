import postgres from "postgres";
import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, sharedUrl } from "./support/database.ts";

it("takes a client with types of its own, and hands transactions with them to the work", async () => {
  const table = freshName();
  await openStore({ table });
  const sql = postgres(sharedUrl, { types: { bigint: postgres.BigInt }, max: 2 });
  const store = new PostgresStore(sql, { table });
  const result = await store.transact("id", (tx) => tx`SELECT ${5n} + 1::bigint`.values());
  expect(result).toEqual({ status: "ran", value: [[6n]] });
  await sql.end();
});
