// How a transaction opens: BEGIN and the mark go out together, and redeliveries in a row open none.
import { connect, type Socket } from "node:net";
import type postgres from "postgres";
import { describe, expect, it } from "vitest";
import { isBegun, runGuarded } from "../src/guard/transaction.ts";
import { PostgresStore } from "../src/index.ts";
import { writeStatements } from "../src/statements.ts";
import { freshName, openStore, ownProxy, plainClient, sharedUrl } from "./support/database.ts";

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
    expect(statements.map(firstWord)).toEqual(["", "BEGIN", "INSERT", "SELECT", "COMMIT"]);
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
    const store = new PostgresStore(plainClient(proxy.url, { max: 1 }), { table: freshName() });
    await store.migrate();
    for (let n = 0; n < 2; n++) await store.transact("id", () => undefined);
    proxy.blackHole();
    await expect(store.transact("id", () => undefined)).rejects.toMatchObject({ code: "BQ_STORE_TIMEOUT" });
  });
});

describe("what goes out with BEGIN", () => {
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
    await expect(runGuarded(sql, work, { opening })).rejects.toThrow("The work ran.");
    expect(await written()).toEqual([]);
    await runGuarded(sql, () => undefined, { opening });
    expect(await written()).toEqual(["opening"]);
  });

  it("is lost with the connection, and the work does not run", async () => {
    const proxy = await ownProxy();
    const sql = plainClient(proxy.url, { max: 1, backoff: () => 0.01 });
    const { opening, written } = await withTable(sql);
    for (let n = 0; n < 5; n++) {
      const cut = proxy.cutBeforeReply();
      await expect(runGuarded(sql, work, { opening })).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
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
    const mark = (on: postgres.ISql, id: string) => on.unsafe(markAtBegin, ["", id, null, "50ms"]).values();
    expect(await mark(sql, "id")).toEqual([]);
    await sql.begin((tx) => mark(tx, "id"));
    expect(await store.seen("id")).toBe(false);
  });

  it("as the store's mark, gives the caller's lock_timeout back, whether it took the id at once or later", async () => {
    const table = freshName();
    const store = await openStore({ table });
    await store.remember("marked");
    const { markAtBegin } = writeStatements(`"${table}"`);
    const caller = plainClient(undefined, { max: 1, connection: { lock_timeout: 234 } });
    for (const ids of [["a"], ["marked", "b"], ["marked", "marked", "c"]]) {
      await runGuarded(
        caller,
        async (tx) => expect(await tx`SHOW lock_timeout`.values()).toEqual([["234ms"]]),
        {
          opening: async (tx) => {
            for (const id of ids) await tx.unsafe(markAtBegin, ["", id, null, "50ms"]);
          },
        },
      );
    }
    expect(await store.seenMany(["a", "b", "c"])).toEqual([true, true, true]);
  });
});
