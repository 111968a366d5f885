import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";

describe("the option table", () => {
  it.each([
    '"app.seen ids"; DROP',
    'x"; DROP TABLE y; --',
    "a b",
    "a.b.c",
    ".a",
    "a.",
    "",
    "1st",
    "a'b",
    "a\u0000b",
    "a\\b",
    "a;b",
    '"quoted"',
    "a\nb",
  ])("refuses %j and says what a name is made of", (table) => {
    expect(() => new PostgresStore(plainClient(), { table })).toThrow(TypeError);
    expect(() => new PostgresStore(plainClient(), { table })).toThrow(/table must be a name/);
  });

  it("refuses a name that Postgres would cut, counted in bytes", () => {
    const sql = plainClient();
    expect(() => new PostgresStore(sql, { table: "a".repeat(63) })).not.toThrow();
    expect(() => new PostgresStore(sql, { table: "a".repeat(64) })).toThrow(RangeError);
    expect(() => new PostgresStore(sql, { table: `s.${"é".repeat(32)}` })).toThrow(/at most 63 bytes/);
  });

  it("takes a schema, and every letter of a name as it is", async () => {
    const schema = `${freshName()}-Schéma`;
    const sql = plainClient();
    await sql`CREATE SCHEMA ${sql(schema)}`;
    const upper = await openStore({ table: `${schema}.Select` });
    const lower = await openStore({ table: `${schema}.select` });
    await upper.remember("id");
    expect([await upper.seen("id"), await lower.seen("id")]).toEqual([true, false]);
    await sql.unsafe(`DROP SCHEMA "${schema}" CASCADE`);
  });

  it("without a schema is found by the search_path; with one, whatever the search_path is", async () => {
    const [schema, table] = [freshName(), freshName()];
    const admin = plainClient();
    await admin.unsafe(`
      CREATE SCHEMA "${schema}";
      -- An impostor for every function and type that a careless statement would look for here.
      CREATE FUNCTION "${schema}".statement_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
      CREATE FUNCTION "${schema}".now() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
      CREATE FUNCTION "${schema}".to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT NULL::regclass';
      CREATE FUNCTION "${schema}".set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $1';
      CREATE DOMAIN "${schema}".text AS pg_catalog.int4;
      CREATE DOMAIN "${schema}".timestamptz AS pg_catalog.int4;
      CREATE DOMAIN "${schema}".varchar AS pg_catalog.int4`);
    const search = (path: string) => plainClient(undefined, { connection: { search_path: path } });

    const unqualified = new PostgresStore(search(`${schema}, pg_catalog, public`), { table, ttlMs: 60_000 });
    await unqualified.migrate();
    await unqualified.remember("id");
    const qualified = new PostgresStore(search("nowhere"), { table: `${schema}.${table}`, ttlMs: 60_000 });
    expect(await qualified.seenMany(["id", "other"])).toEqual([true, false]);
    expect(await qualified.transact("other", () => 1)).toEqual({ status: "ran", value: 1 });
    expect(await unqualified.claim("other", 60_000)).toEqual({ status: "processed" });
    expect(await qualified.claim("third", 60_000)).toMatchObject({ status: "claimed" });
    expect(await qualified.purge()).toBe(0);
    await admin.unsafe(`DROP SCHEMA "${schema}" CASCADE`);
  });
});
