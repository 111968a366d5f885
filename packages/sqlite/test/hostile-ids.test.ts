import { distinctIds } from "@bq/idempotency-conformance";
import { storageKey } from "@bq/idempotency-core";
import type Sqlite from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

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
  const path = temporaryFile();
  const store = await openStore(path);
  const database = openDatabase(path);
  database.exec("CREATE TABLE witness (id INTEGER)");
  const read = database.prepare("SELECT message_id FROM babelqueue_idempotency").pluck();
  const rows = () => (read.all() as string[]).sort();
  await fc.assert(
    fc.asyncProperty(ids, async (given) => {
      database.exec("DELETE FROM babelqueue_idempotency");
      await store.remember("witness");
      const half = Math.ceil(given.length / 2);
      const [marked, claimed] = [given.slice(0, half), given.slice(half)];

      await Promise.all(marked.slice(1).map((id) => store.remember(id)));
      await store.rememberMany(marked);
      const results = await Promise.all(claimed.map((id) => store.claim(id, 600_000)));
      expect(results.map(({ status }) => status)).toEqual(claimed.map(() => "claimed"));
      expect(await store.seenMany(given)).toEqual(given.map((id) => marked.includes(id)));
      expect(rows()).toEqual([...given.map(storageKey), "witness"].sort());

      for (const result of results) {
        if (result.status === "claimed") expect(await store.release(result.claim)).toBe(true);
      }
      expect(await store.transact(claimed[0], () => 1)).toEqual({ status: "ran", value: 1 });
      expect(await store.transact(marked[0], () => 1)).toEqual({ status: "processed" });
      await Promise.all(given.map((id) => store.forget(id)));
      expect(rows()).toEqual(["witness"]);
    }),
    { numRuns: 100 },
  );
  expect(tablesOf(database)).toEqual(["babelqueue_idempotency", "witness"]);
});

it("a name for the table is refused, or is the name of the one table that is made, whatever it is made of", async () => {
  const database = openDatabase(temporaryFile());
  database.exec("CREATE TABLE witness (id INTEGER)");
  const letters = fc.string({ unit: fc.constantFrom("a", "B", "_", "1"), minLength: 1, maxLength: 12 });
  const names = fc.oneof(
    text,
    letters,
    fc.tuple(letters, text).map((parts) => parts.join("")),
    fc.constantFrom("select", "TABLE", "rowid", "message_id", "sqlite_master", "main", "temp"),
    fc.anything(),
  );
  let made = 0;
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      if (name === undefined) return;
      let store: SqliteStore;
      try {
        store = new SqliteStore(database, { table: name as string });
      } catch (error) {
        expect(error, String(error)).toBeInstanceOf(TypeError);
        expect(String(error)).toMatch(/SqliteStore: table /);
        return;
      }
      made += 1;
      await store.migrate();
      await store.remember("'; DROP TABLE witness; --");
      expect(tablesOf(database)).toEqual([name, "witness"].sort());
      database.exec(`DROP TABLE main."${name}"`);
    }),
    { numRuns: 300 },
  );
  expect(made).toBeGreaterThan(20);
  expect(tablesOf(database)).toEqual(["witness"]);
});

function tablesOf(database: Sqlite.Database): unknown[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all()
    .sort();
}
