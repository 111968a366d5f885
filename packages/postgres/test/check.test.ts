import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient, sharedUrl } from "./support/database.ts";

const safe = { synchronous_commit: "on" };

async function codes(store: PostgresStore): Promise<string[]> {
  // The server of the tests waits for no disk, and says so.
  return (await store.check()).map(({ code }) => code).filter((code) => code !== "fsync");
}

it("a table that migrate() made has no findings; a missing one has", async () => {
  const table = freshName();
  const store = new PostgresStore(plainClient(undefined, { connection: safe }), { table });
  expect(await codes(store)).toEqual(["table-missing"]);
  await store.migrate();
  expect(await codes(store)).toEqual([]);
});

it("settings under which marks are lost are errors", async () => {
  const table = freshName();
  await openStore({ table });
  const store = new PostgresStore(plainClient(undefined, { connection: { synchronous_commit: "off" } }), {
    table,
  });
  const findings = await store.check();
  expect(findings).toContainEqual({
    severity: "error",
    code: "synchronous-commit",
    message: expect.stringContaining("turn it on"),
  });
});

it("a session that cannot write is an error", async () => {
  const table = freshName();
  await openStore({ table });
  const connection = { ...safe, default_transaction_read_only: true };
  expect(await codes(new PostgresStore(plainClient(undefined, { connection }), { table }))).toEqual([
    "read-only",
  ]);
});

it("an unlogged table, a collation that may change and missing columns are found", async () => {
  const table = freshName();
  const sql = plainClient(undefined, { connection: safe });
  await sql.unsafe(`
    CREATE UNLOGGED TABLE "${table}" (
      message_id TEXT COLLATE "en-x-icu" PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ
    )`);
  const store = new PostgresStore(sql, { table });
  expect(await codes(store)).toEqual(["table-columns", "table-unlogged", "collation"]);
  await sql.unsafe(`
    ALTER TABLE "${table}" SET LOGGED;
    ALTER TABLE "${table}" ALTER COLUMN message_id TYPE TEXT COLLATE "C"`);
  await store.migrate();
  expect(await codes(store)).toEqual([]);
});

it("a table of another shape is found", async () => {
  const table = freshName();
  const sql = plainClient(undefined, { connection: safe });
  await sql.unsafe(`CREATE TABLE "${table}" (message_id INT PRIMARY KEY)`);
  expect(await codes(new PostgresStore(sql, { table }))).toEqual(["table-shape"]);
});

it("rights that are missing are named", async () => {
  const [table, role] = [freshName(), freshName()];
  const sql = plainClient();
  await openStore({ table });
  await sql.unsafe(`CREATE ROLE "${role}" LOGIN; GRANT SELECT, INSERT ON "${table}" TO "${role}"`);
  const url = Object.assign(new URL(sharedUrl), { username: role }).href;
  const store = new PostgresStore(plainClient(url, { connection: safe }), { table });
  expect(await store.check()).toContainEqual({
    severity: "error",
    code: "privileges",
    message: expect.stringContaining("lacks UPDATE, DELETE"),
  });
  await sql.unsafe(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
});
