import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient, sharedUrl } from "./support/database.ts";

const goTable = `(
  message_id TEXT PRIMARY KEY,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  expires_at TIMESTAMPTZ NULL
)`;

const columnsOf = (sql: ReturnType<typeof plainClient>, table: string) =>
  sql`
  SELECT column_name, data_type, is_nullable
  FROM information_schema.columns
  WHERE table_name = ${table}
  ORDER BY ordinal_position`.values();

const allColumns = [
  ["message_id", "text", "NO"],
  ["created_at", "timestamp with time zone", "NO"],
  ["expires_at", "timestamp with time zone", "YES"],
  ["claim_token", "text", "YES"],
  ["claimed_until", "timestamp with time zone", "YES"],
];

describe("migrate", () => {
  it("run by 20 workers at once leaves one right table and no error", async () => {
    const table = freshName();
    const sql = plainClient();
    const stores = await Promise.all(
      Array.from({ length: 20 }, () => PostgresStore.connect(sharedUrl, { table, maxConnections: 1 })),
    );
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store) => store.close()));
    expect(await columnsOf(sql, table)).toEqual(allColumns);
  });

  it("run by 20 workers at once upgrades a table of three columns and keeps its marks", async () => {
    const table = freshName();
    const sql = plainClient();
    await sql.unsafe(`CREATE TABLE "${table}" ${goTable}`);
    await sql`INSERT INTO ${sql(table)} (message_id) SELECT 'go-' || n FROM generate_series(1, 500) AS n`;
    const stores = Array.from({ length: 20 }, () => new PostgresStore(sql, { table }));
    await Promise.all(stores.map((store) => store.migrate()));
    expect(await columnsOf(sql, table)).toEqual(allColumns);
    const store = await openStore({ table });
    expect(await store.seenMany(["go-1", "go-500", "go-501"])).toEqual([true, true, false]);
    expect(await store.claim("go-501", 60_000)).toMatchObject({ status: "claimed" });
  });

  it("ids are compared by their bytes, whatever the collation of the database", async () => {
    const table = freshName();
    await openStore({ table });
    const sql = plainClient();
    const found = await sql`
      SELECT collation_name FROM information_schema.columns
      WHERE table_name = ${table} AND column_name = 'message_id'`;
    expect(found[0]?.collation_name).toBe("C");
  });

  it("with nothing to change it waits for no open transaction and needs no right to change tables", async () => {
    const table = freshName();
    const role = freshName();
    const sql = plainClient();
    await openStore({ table });
    await sql.unsafe(`
      CREATE ROLE "${role}" LOGIN;
      GRANT SELECT, INSERT, UPDATE, DELETE ON "${table}" TO "${role}"`);
    const url = Object.assign(new URL(sharedUrl), { username: role }).href;
    const store = await PostgresStore.connect(url, { table, maxConnections: 1, lockTimeoutMs: 100 });
    await sql.begin(async (tx) => {
      await tx`LOCK TABLE ${tx(table)} IN ACCESS SHARE MODE`;
      await store.migrate();
    });
    await store.remember("id");
    expect(await store.seen("id")).toBe(true);
    await store.close();
    await sql.unsafe(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it("a role that may not create the table is told who should", async () => {
    const role = freshName();
    const sql = plainClient();
    await sql.unsafe(`CREATE ROLE "${role}" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    const url = Object.assign(new URL(sharedUrl), { username: role }).href;
    const store = await PostgresStore.connect(url, { table: freshName() });
    await expect(store.migrate()).rejects.toThrow(
      /permission denied.*Let a role that owns the schema run migrate/,
    );
    await store.close();
    await sql.unsafe(`DROP ROLE "${role}"`);
  });

  it("gives up within lockTimeoutMs when a transaction holds the table, and changes nothing", async () => {
    const table = freshName();
    const sql = plainClient();
    await sql.unsafe(`CREATE TABLE "${table}" ${goTable}`);
    const store = new PostgresStore(sql, { table, lockTimeoutMs: 50 });
    await sql.begin(async (tx) => {
      await tx`LOCK TABLE ${tx(table)} IN ACCESS SHARE MODE`;
      await expect(store.migrate()).rejects.toThrow(/gave up waiting for the table/);
    });
    expect(await columnsOf(sql, table)).toEqual(allColumns.slice(0, 3));
    await store.migrate();
    expect(await columnsOf(sql, table)).toEqual(allColumns);
  });

  it.each([
    [
      "(message_id VARCHAR(99) PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ)",
      "message_id is of type character varying(99) instead of text",
    ],
    [
      "(message_id TEXT PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMP)",
      "expires_at is of type timestamp without time zone",
    ],
    ["(message_id TEXT PRIMARY KEY, created_at TIMESTAMPTZ)", "it has no column expires_at"],
    [
      "(message_id TEXT, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ)",
      "message_id is not its primary key",
    ],
    [
      "(message_id TEXT, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ, PRIMARY KEY (message_id, created_at))",
      "message_id is not its primary key",
    ],
    [
      "(message_id TEXT PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ NOT NULL)",
      "expires_at is NOT NULL",
    ],
    [
      "(message_id TEXT PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ, tenant INT NOT NULL)",
      "tenant, which the store does not know, is NOT NULL",
    ],
    [
      "(message_id TEXT PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ, claim_token UUID)",
      "claim_token is of type uuid instead of text",
    ],
  ])("refuses the table %s and names the difference", async (definition, difference) => {
    const table = freshName();
    const sql = plainClient();
    await sql.unsafe(`CREATE TABLE "${table}" ${definition}`);
    const store = new PostgresStore(sql, { table });
    const before = await columnsOf(sql, table);
    await expect(store.migrate()).rejects.toMatchObject({
      code: "BQ_STORE_SCHEMA",
      message: expect.stringContaining(difference),
    });
    expect(await columnsOf(sql, table)).toEqual(before);
  });

  it("refuses a collation that takes different ids for one, and a view", async () => {
    const sql = plainClient();
    const [table, view, collation] = [freshName(), freshName(), freshName()];
    await sql.unsafe(`
      CREATE COLLATION "${collation}" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE "${table}" (
        message_id TEXT COLLATE "${collation}" PRIMARY KEY, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ
      );
      CREATE VIEW "${view}" AS SELECT * FROM "${table}"`);
    await expect(new PostgresStore(sql, { table }).migrate()).rejects.toThrow(/takes different ids for one/);
    await expect(new PostgresStore(sql, { table: view }).migrate()).rejects.toThrow(/it is no table/);
  });

  it("ddl() is the SQL of the same table", async () => {
    const table = freshName();
    const sql = plainClient();
    const store = new PostgresStore(sql, { table });
    await sql.unsafe(store.ddl());
    expect(await columnsOf(sql, table)).toEqual(allColumns);
    expect(await store.check()).not.toContainEqual(
      expect.objectContaining({ code: expect.stringMatching(/^table|collation/) }),
    );
  });

  it("before it ran, an operation says that it is missing", async () => {
    const store = new PostgresStore(plainClient(), { table: freshName() });
    await expect(store.seen("id")).rejects.toMatchObject({
      code: "BQ_STORE_SCHEMA",
      message: expect.stringContaining("Run migrate()"),
    });
    await expect(store.transact("id", () => 1)).rejects.toMatchObject({ code: "BQ_STORE_SCHEMA" });
  });
});
