// How a transaction opens: BEGIN and the mark go out together, and redeliveries in a row open none.
import { connect, type Socket } from "node:net";
import type postgres from "postgres";
import { describe, expect, it } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { PostgresStore } from "../src/index.ts";
import { writeStatements } from "../src/statements.ts";
import { freshName, openStore, ownProxy, plainClient, sharedUrl } from "./support/database.ts";
import { until } from "./support/until.ts";

/** A store on one connection, and what it sends: its statements, and in how many packets. */
async function watchedStore(): Promise<{
  store: PostgresStore;
  statements: string[];
  packets: () => number;
}> {
  const statements: string[] = [];
  let packets = 0;
  const { hostname, port } = new URL(sharedUrl);
  const socket = (): Socket => {
    const opened = connect(Number(port), hostname);
    const { write } = opened;
    opened.write = ((...args: Parameters<typeof write>) => {
      packets++;
      return Reflect.apply(write, opened, args);
    }) as typeof write;
    return opened;
  };
  const debug = (_: unknown, statement: string) => statements.push(statement.trim());
  const sql = plainClient(sharedUrl, { max: 1, debug, socket } as object);
  const store = new PostgresStore(sql, { table: freshName() });
  await store.migrate();
  await store.transact("warm", () => undefined);
  statements.length = packets = 0;
  return { store, statements, packets: () => packets };
}

const firstWord = (statement: string) => statement.split(/\W/)[0]?.toUpperCase();

describe("transact", () => {
  it("takes two round trips beside the statements of the work: BEGIN and the mark go out together", async () => {
    const { store, statements, packets } = await watchedStore();
    await store.transact("id", (tx) => tx`SELECT 'the work'`);
    // The empty one asks the pool for a connection.
    expect(statements.map(firstWord)).toEqual(["", "BEGIN", "WITH", "SELECT", "COMMIT"]);
    expect(packets()).toBe(2 + 1);
  });

  it("opens no transaction for a redelivery that follows another, and one again for what is new", async () => {
    const { store, statements } = await watchedStore();
    const deliver = async (id: string) => {
      statements.length = 0;
      const { status } = await store.transact(id, () => undefined);
      return { status, opened: statements.some((statement) => firstWord(statement) === "BEGIN") };
    };
    expect(await deliver("warm")).toEqual({ status: "processed", opened: true });
    expect(await deliver("warm")).toEqual({ status: "processed", opened: false });
    expect(await deliver("new")).toEqual({ status: "ran", opened: true });
    expect(await deliver("newer")).toEqual({ status: "ran", opened: true });
    // The redelivery before was forgotten, so this one is not looked for.
    expect(await deliver("new")).toEqual({ status: "processed", opened: true });
  });

  it("redeliveries that come together share the question", async () => {
    const { store, statements } = await watchedStore();
    await store.transact("warm", () => undefined);
    statements.length = 0;
    await Promise.all(Array.from({ length: 50 }, () => store.transact("warm", () => undefined)));
    expect(statements.length).toBeLessThan(10);
  });

  it("a store that does not answer the question of a redelivery is given up", async () => {
    const proxy = await ownProxy();
    const store = new PostgresStore(plainClient(proxy.url, { max: 1 }), {
      table: freshName(),
      lockTimeoutMs: 100,
    });
    await store.migrate();
    for (let n = 0; n < 2; n++) await store.transact("id", () => undefined);
    proxy.blackHole();
    await expect(store.transact("id", () => undefined)).rejects.toMatchObject({ code: "BQ_STORE_TIMEOUT" });
  });
});

describe("what goes out with BEGIN", () => {
  // What begin makes and the opening looks for.
  const begin = "begin; set local bq_test.begun = 'yes'";
  const isBegun = "current_setting('bq_test.begun', TRUE) = 'yes'";
  const work = () => {
    throw new Error("The work ran.");
  };

  async function withTable(sql: postgres.Sql) {
    const table = freshName();
    await sql`CREATE TABLE ${sql(table)} (who TEXT)`;
    const opening = async (tx: postgres.TransactionSql) => {
      await tx.unsafe(`INSERT INTO "${table}" SELECT 'opening' WHERE ${isBegun}`);
    };
    return {
      table,
      opening,
      written: async () => (await plainClient()`SELECT who FROM ${sql(table)}`.values()).flat(),
    };
  }

  it("does nothing when BEGIN failed, for it would be kept", async () => {
    const sql = plainClient(undefined, { max: 1 });
    const { opening, written } = await withTable(sql);
    for (const begin of ["begin isolation level nonsense", "begin; select 1 / 0"]) {
      await expect(runGuarded(sql, work, { begin, opening })).rejects.toThrow("could not be opened");
      expect(await written()).toEqual([]);
      expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    }
  });

  it("is one statement alone: a second waits for BEGIN, and is rejected when that failed", async () => {
    const sql = plainClient(undefined, { max: 1 });
    const { table, written } = await withTable(sql);
    let told: unknown;
    const opening = async (tx: postgres.TransactionSql) => {
      const first = tx`SELECT 1`.execute();
      const second = tx.unsafe(`INSERT INTO "${table}" VALUES ('second')`).execute();
      second.catch((error: unknown) => {
        told = error;
      });
      await Promise.all([first, second]);
    };
    const begin = "begin isolation level nonsense";
    await expect(runGuarded(sql, work, { begin, opening })).rejects.toThrow("could not be opened");
    expect(await written()).toEqual([]);
    expect(told).toMatchObject({ name: "StoreError" });
  });

  it("is rejected when no connection could be had", async () => {
    const proxy = await ownProxy();
    await proxy.cut();
    let told: unknown;
    const opening = (tx: postgres.TransactionSql) =>
      tx`SELECT 1`.then(
        () => {},
        (error: unknown) => {
          told = error;
        },
      );
    const sql = plainClient(proxy.url, { max: 1 });
    await expect(runGuarded(sql, work, { opening })).rejects.toThrow("could not be opened");
    expect(told).toMatchObject({
      name: "StoreError",
      message: expect.stringContaining("could not be opened"),
    });
  });

  it("is part of the transaction when BEGIN succeeded", async () => {
    const sql = plainClient(undefined, { max: 1 });
    const { opening, written } = await withTable(sql);
    await expect(runGuarded(sql, work, { begin, opening })).rejects.toThrow("The work ran.");
    expect(await written()).toEqual([]);
    await runGuarded(sql, () => undefined, { begin, opening });
    expect(await written()).toEqual(["opening"]);
  });

  it("is lost with the connection, and the work does not run", async () => {
    const proxy = await ownProxy();
    const sql = plainClient(proxy.url, { max: 1, backoff: () => 0.01 });
    const { opening, written } = await withTable(sql);
    for (let n = 0; n < 5; n++) {
      const cut = proxy.cutBeforeReply();
      await expect(runGuarded(sql, work, { begin, opening })).rejects.toMatchObject({
        code: "BQ_STORE_FAILED",
      });
      await cut;
      expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    }
    expect(await written()).toEqual([]);
  });

  it("as the store's mark, is not written outside a transaction of the store's", async () => {
    const table = freshName();
    const store = await openStore({ table });
    const { markAtBegin } = writeStatements(`"${table}"`);
    const sql = plainClient();
    const mark = (on: postgres.ISql) => on.unsafe(markAtBegin, ["", "id", null]).values();
    expect(await mark(sql)).toEqual([]);
    await sql.begin(async (tx) => expect(await mark(tx)).toEqual([]));
    expect(await store.seen("id")).toBe(false);
  });

  it("waits no longer than lockTimeoutMs, also for the table", async () => {
    const table = freshName();
    const store = await openStore({ table, lockTimeoutMs: 100 });
    await plainClient().begin(async (holder) => {
      await holder`LOCK TABLE ${holder(table)}`;
      expect(await store.transact("id", () => 1)).toMatchObject({ status: "in-flight" });
    });
  });

  it("does not wait for a transaction that holds the row of a mark", async () => {
    const table = freshName();
    const store = await openStore({ table, lockTimeoutMs: 60_000 });
    await store.remember("id");
    await plainClient().begin(async (holder) => {
      await holder`SELECT FROM ${holder(table)} FOR UPDATE`;
      expect(await store.transact("id", () => 1)).toEqual({ status: "processed" });
    });
  });
});

describe("statements of others, under way on the connection that a transaction gets", () => {
  /** A store whose one connection is busy with what the test sends, and somebody else. */
  async function onBusyConnection() {
    const table = freshName();
    const others = freshName();
    const admin = plainClient();
    await admin`CREATE TABLE ${admin(others)} (a INT)`;
    await openStore({ table });
    const sql = plainClient(undefined, { max: 1, fetch_types: false });
    return {
      sql,
      admin,
      table,
      others,
      store: new PostgresStore(sql, { table }),
      outside: await openStore({ table }),
    };
  }

  // The driver repeats a prepared statement that the server refused because the table was changed, behind what came after it.
  const repeated = {
    "without parameters": (sql: postgres.Sql, others: string) => sql`SELECT * FROM ${sql(others)}`,
    "with a parameter": (sql: postgres.Sql, others: string) =>
      sql`SELECT a FROM ${sql(others)} WHERE a = ${7}`,
  };
  it.each(Object.entries(repeated))("are repeated before BEGIN: %s", async (_, statement) => {
    const { sql, admin, others, store, outside } = await onBusyConnection();
    for (let n = 0; n < 2; n++) await statement(sql, others);
    await admin`ALTER TABLE ${admin(others)} ADD COLUMN b INT, ALTER COLUMN a TYPE BIGINT`;
    const theirs = statement(sql, others).execute();
    const ran = await store.transact("id", (tx) => tx`SELECT 1 AS one`);
    expect(ran).toEqual({ status: "ran", value: [{ one: 1 }] });
    expect(await theirs).toEqual([]);
    expect(await outside.seen("id")).toBe(true);
  });

  it("are not rolled back with the transaction", async () => {
    const { sql, admin, others, store } = await onBusyConnection();
    const insert = () => sql`INSERT INTO ${sql(others)} VALUES (1) RETURNING *`;
    for (let n = 0; n < 2; n++) await insert();
    await store.transact("warm", () => undefined);
    await admin`ALTER TABLE ${admin(others)} ADD COLUMN b INT`;
    const theirs = insert().execute();
    const fails = store.transact("id", () => {
      throw new RangeError("The work failed.");
    });
    await expect(fails).rejects.toThrow(RangeError);
    expect(await theirs).toHaveLength(1);
    expect(await admin`SELECT FROM ${admin(others)}`).toHaveLength(3);
  });

  // The driver forgets that a cancelled one will be answered, and takes its answer for that to another.
  it.each([1, 2, 3, 4])("cannot lose or keep a mark by being cancelled: %i of them", async (count) => {
    const { sql, admin, table, others, store, outside } = await onBusyConnection();
    await store.transact("warm", () => undefined);
    const before = sql.unsafe(`SELECT pg_sleep(0.3) AS "${others}"`).execute();
    const cancelled = Array.from({ length: count }, (_, n) => sql.unsafe(`SELECT ${n}`).execute());
    for (const query of [before, ...cancelled]) query.catch(() => {});
    let effects = 0;
    const deliver = (id: string) => store.transact(id, () => void effects++).catch(() => {});
    const first = deliver("id");
    const active = (text: string, state: string) =>
      admin`SELECT FROM pg_stat_activity WHERE query LIKE ${`%${text}%`} AND state LIKE ${state}`;
    await until(async () => (await active(others, "active")).count > 0);
    for (const query of cancelled) query.cancel();
    await first;
    await until(async () => (await active(table, "idle in transaction%")).count === 0);
    await deliver("other");
    expect(effects).toBe((await outside.seenMany(["id", "other"])).filter(Boolean).length);
    for (const id of ["id", "other", "id", "other"]) await deliver(id);
    expect(await outside.seenMany(["id", "other"])).toEqual([true, true]);
    expect(effects).toBe(2);
  });

  it("are not stopped when the transaction is given up before BEGIN", async () => {
    const { sql } = await onBusyConnection();
    await sql`SELECT 1`;
    const theirs = sql`SELECT pg_sleep(0.5), 'done' AS what`.execute();
    const giveUp = new AbortController();
    const given = runGuarded(sql, () => 1, { signal: giveUp.signal });
    setTimeout(() => giveUp.abort(new Error("given up")), 100);
    await expect(given).rejects.toThrow("given up");
    expect(await theirs).toMatchObject([{ what: "done" }]);
    expect(await runGuarded(sql, () => "works on")).toBe("works on");
  });
});
