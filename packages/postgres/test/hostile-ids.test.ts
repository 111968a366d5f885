import { distinctIds } from "@bq/idempotency-conformance";
import { storageKey } from "@bq/idempotency-core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";

/** What ids are made of here: those of the suite, and pieces that mean something to SQL. */
const pieces = [
  ...distinctIds.filter((id) => id.length < 1_000),
  ...["'; DROP TABLE witness; --", "' OR '1'='1", "'); DELETE FROM witness; --", "' UNION SELECT 'a"],
  ...['"; DROP TABLE witness; --', "/*", "*/", "$$", "$body$", "E'\\x27'", "U&'\\0027'", "?", "\u02bc", "-"],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(""));
const ids = fc.uniqueArray(
  text.filter((joined) => joined !== ""),
  { minLength: 2, maxLength: 10 },
);

it("an id touches its own row alone, whatever it is made of", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const sql = plainClient();
  const rows = async () => (await sql`SELECT message_id FROM ${sql(table)}`.values()).flat().sort();
  await fc.assert(
    fc.asyncProperty(ids, async (given) => {
      await sql`DELETE FROM ${sql(table)}`;
      await store.remember("witness");
      const half = Math.ceil(given.length / 2);
      const [marked, claimed] = [given.slice(0, half), given.slice(half)];

      await Promise.all(marked.slice(1).map((id) => store.remember(id)));
      await store.rememberMany(marked);
      const results = await Promise.all(claimed.map((id) => store.claim(id, 600_000)));
      expect(results.map(({ status }) => status)).toEqual(claimed.map(() => "claimed"));
      expect(await store.seenMany(given)).toEqual(given.map((id) => marked.includes(id)));
      expect(await rows()).toEqual([...given.map(storageKey), "witness"].sort());

      for (const result of results) {
        if (result.status === "claimed") expect(await store.release(result.claim)).toBe(true);
      }
      expect(await store.transact(claimed[0], () => 1)).toEqual({ status: "ran", value: 1 });
      expect(await store.transact(marked[0], () => 1)).toEqual({ status: "processed" });
      await Promise.all(given.map((id) => store.forget(id)));
      expect(await rows()).toEqual(["witness"]);
    }),
    { numRuns: 60 },
  );
});

it("a name for the table is refused, or is the name of the one table that is made, whatever it is made of", async () => {
  const schema = freshName();
  const sql = plainClient(undefined, { connection: { search_path: `"${schema}"` } });
  await sql.unsafe(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".witness (id INT)`);
  const tables = async () =>
    (await sql`SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = ${schema}`.values())
      .flat()
      .sort();
  const letters = fc.string({
    unit: fc.constantFrom("a", "B", "é", "_", "1", "$", "-"),
    minLength: 1,
    maxLength: 12,
  });
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        text,
        letters,
        fc.tuple(letters, text).map((parts) => parts.join("")),
        fc.anything(),
      ),
      async (name) => {
        if (name === undefined || name === "witness") return;
        let store: PostgresStore;
        try {
          store = new PostgresStore(sql, { table: name as string });
        } catch (error) {
          expect(error instanceof TypeError || error instanceof RangeError, String(error)).toBe(true);
          expect(String(error)).toMatch(/PostgresStore: table /);
          return;
        }
        // A name with a dot names a schema, and there is none of that name.
        if (String(name).includes(".")) return;
        made += 1;
        await store.migrate();
        await store.remember("'; DROP TABLE witness; --");
        expect(await tables()).toEqual([name, "witness"].sort());
        await sql`DROP TABLE ${sql(String(name))}`;
      },
    ),
    { numRuns: 150 },
  );
  expect(made).toBeGreaterThan(10);
  expect(await tables()).toEqual(["witness"]);
  await sql.unsafe(`DROP SCHEMA "${schema}" CASCADE`);
});
