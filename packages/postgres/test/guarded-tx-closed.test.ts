// The tx of a transaction that is over: with the driver alone a statement of it runs on the pool's connection, on its own.
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, sharedUrl } from "./support/database.ts";

type Tx = postgres.TransactionSql;

const sql = postgres(sharedUrl, { max: 2, onnotice() {} });
afterAll(() => sql.end({ timeout: 5 }));

let table: string;
beforeEach(async () => {
  table = freshName();
  await sql`CREATE TABLE ${sql(table)} (who text)`;
});

const insert = (tx: Tx, who: string) => tx`INSERT INTO ${tx(table)} VALUES (${who})`;
const written = async () => (await sql`SELECT who FROM ${sql(table)} ORDER BY who`).map(({ who }) => who);

const uses: Record<string, (tx: Tx) => PromiseLike<unknown>> = {
  "a statement": (tx) => insert(tx, "late"),
  "an unsafe statement": (tx) => tx.unsafe(`INSERT INTO ${table} VALUES ('late')`),
  "a file": (tx) => tx.file(fileURLToPath(import.meta.url)),
  "a notification": (tx) => tx.notify("guarded", "late"),
  "a savepoint": (tx) => tx.savepoint((inner) => insert(inner, "late")),
  "a cursor": (tx) => tx`INSERT INTO ${tx(table)} VALUES ('late') RETURNING who`.cursor(() => {}),
  "a loop over rows": (tx) => tx`INSERT INTO ${tx(table)} VALUES ('late') RETURNING who`.forEach(() => {}),
  "a COPY": (tx) => tx`COPY ${tx(table)} FROM STDIN`.writable(),
};

describe.each(Object.entries(uses))("%s", (_, use) => {
  it("is rejected after the transaction committed", async () => {
    const tx = await runGuarded(sql, (tx) => ({ tx }));
    await expect(use(tx.tx)).rejects.toThrow("The transaction is over: its tx cannot be used any more.");
    expect(await written()).toEqual([]);
  });

  it("is rejected after the work threw", async () => {
    let kept: Tx | undefined;
    const work = (tx: Tx) => {
      kept = tx;
      throw new RangeError("thrown by the work");
    };
    await expect(runGuarded(sql, work)).rejects.toThrow(RangeError);
    await expect(use(kept as Tx)).rejects.toThrow("The transaction is over");
    expect(await written()).toEqual([]);
  });
});

it("a statement that was made before the end and is awaited after it is rejected", async () => {
  const { late } = await runGuarded(sql, (tx) => ({ late: () => insert(tx, "late") }));
  const made = await runGuarded(sql, (tx) => ({ late: [insert(tx, "late")] }));
  await expect(late()).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
  await expect(made.late[0]).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
  expect(await written()).toEqual([]);
});

it("a sibling that goes on after an early throw writes nothing", async () => {
  let sibling: Promise<unknown> | undefined;
  const work = async (tx: Tx) => {
    const goOn = async () => {
      await tx`SELECT pg_sleep(0.05)`;
      await insert(tx, "sibling");
    };
    sibling = goOn();
    sibling.catch(() => {});
    await Promise.all([sibling, Promise.reject(new RangeError("early"))]);
  };
  await expect(runGuarded(sql, work)).rejects.toThrow("early");
  await expect(sibling).rejects.toThrow("The transaction is over");
  expect(await written()).toEqual([]);
});

it("statements that were issued and not awaited commit with the rest, or are rolled back with it", async () => {
  await runGuarded(sql, async (tx) => {
    tx`SELECT pg_sleep(0.05)`.execute();
    insert(tx, "first").execute();
    insert(tx, "second").execute();
  });
  expect(await written()).toEqual(["first", "second"]);

  let fourth: Promise<unknown> | undefined;
  const work = async (tx: Tx) => {
    tx`INSERT INTO ${tx(table)} SELECT 'third' FROM pg_sleep(0.05)`.execute();
    fourth = insert(tx, "fourth").execute();
    await delay(1);
    throw new RangeError("late");
  };
  await expect(runGuarded(sql, work)).rejects.toThrow("late");
  await expect(fourth).rejects.toThrow("rolled back before this statement was sent");
  expect(await written()).toEqual(["first", "second"]);
});

it("a use of the closed tx that nobody waits for harms neither the process nor a later transaction", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const kept = await runGuarded(sql, (tx) => ({ tx }));
  await runGuarded(sql, async (tx) => {
    insert(kept.tx, "late").execute();
    await insert(tx, "right");
  });
  await delay(10);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  expect(await written()).toEqual(["right"]);
});

it("the tx of a savepoint closes with the savepoint", async () => {
  await runGuarded(sql, async (tx) => {
    let kept: Tx | undefined;
    const failing = tx.savepoint((inner) => {
      kept = inner;
      throw new RangeError("thrown in the savepoint");
    });
    await expect(failing).rejects.toThrow(RangeError);
    await expect(insert(kept as Tx, "late")).rejects.toThrow('The savepoint "s0" is over');
    await insert(tx, "right");
  });
  expect(await written()).toEqual(["right"]);
});
