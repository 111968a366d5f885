// Whatever the server did with the COMMIT is what the caller is told.
import postgres from "postgres";
import { afterAll, beforeEach, expect, it } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, ownProxy, plainClient, sharedUrl } from "./support/database.ts";

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

it("the value of the work is passed back when the transaction committed", async () => {
  const value = await runGuarded(sql, async (tx) => {
    await insert(tx, "right");
    return { some: "value" };
  });
  expect(value).toEqual({ some: "value" });
  expect(await written()).toEqual(["right"]);
});

it("what the work throws is passed on untouched after a rollback", async () => {
  for (const thrown of [undefined, null, "text", new RangeError("of the work")]) {
    const work = async (tx: Tx) => {
      await insert(tx, "wrong");
      throw thrown;
    };
    const outcome = await runGuarded(sql, work).then(
      () => "resolved",
      (error: unknown) => ({ error }),
    );
    expect(outcome).toEqual({ error: thrown });
  }
  expect(await written()).toEqual([]);
});

it("a COMMIT whose answer is lost is neither a success nor a failure", async () => {
  const proxy = await ownProxy();
  const behindProxy = plainClient(proxy.url, { max: 1 });
  const work = async (tx: Tx) => {
    await insert(tx, "committed all the same");
    void proxy.cutBeforeReply();
  };
  await expect(runGuarded(behindProxy, work)).rejects.toMatchObject({
    name: "StoreError",
    code: "BQ_COMMIT_UNKNOWN",
    cause: { code: "ECONNRESET" },
  });
  expect(await written()).toEqual(["committed all the same"]);
  expect(await runGuarded(behindProxy, () => "the pool works on")).toBe("the pool works on");
});

it("a failed statement whose error the work caught rolls back and is told", async () => {
  const work = async (tx: Tx) => {
    await insert(tx, "wrong");
    await tx`SELECT 1 / 0`.catch(() => {});
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ name: "PostgresError", code: "22012" });
  expect(await written()).toEqual([]);
});

it("a failed statement that the work did not wait for rolls back and is told", async () => {
  const work = async (tx: Tx) => {
    await insert(tx, "wrong");
    tx`SELECT 1 / (random() * 0)::int FROM pg_sleep(0.02)`.execute();
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ name: "PostgresError", code: "22012" });
  expect(await written()).toEqual([]);
});

it("a failed cursor whose error the work caught rolls back and is told", async () => {
  const work = async (tx: Tx) => {
    await insert(tx, "wrong");
    const loop = async () => {
      for await (const _ of tx`SELECT 1 / (2 - n) FROM generate_series(1, 2) AS n`.cursor(1));
    };
    await loop().catch(() => {});
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ name: "PostgresError", code: "22012" });
  expect(await written()).toEqual([]);
});

it("a COMMIT that the server turns into a ROLLBACK is an error", async () => {
  const work = async (tx: Tx) => {
    await insert(tx, "wrong");
    // It fails when its savepoint has long succeeded, so nobody is told.
    await tx.savepoint((inner) => {
      inner`SELECT 1 / (random() * 0)::int FROM pg_sleep(0.02)`.execute();
    });
  };
  await expect(runGuarded(sql, work)).rejects.toThrow("The server rolled the transaction back at COMMIT");
  expect(await written()).toEqual([]);
});

it("a COMMIT that breaks a deferred constraint is the server's error", async () => {
  await sql`ALTER TABLE ${sql(table)} ADD UNIQUE (who) DEFERRABLE INITIALLY DEFERRED`;
  const work = async (tx: Tx) => {
    await insert(tx, "twice");
    await insert(tx, "twice");
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ name: "PostgresError", code: "23505" });
  expect(await written()).toEqual([]);
});

it("a COMMIT that would break serializability is the server's error", async () => {
  const serializable = { begin: "begin isolation level serializable" };
  const work = async (tx: Tx) => {
    await tx`SELECT count(*) FROM ${tx(table)}`;
    await insert(tx, "outer");
    await runGuarded(
      sql,
      async (other) => {
        await other`SELECT count(*) FROM ${other(table)}`;
        await insert(other, "inner");
      },
      serializable,
    );
  };
  await expect(runGuarded(sql, work, serializable)).rejects.toMatchObject({
    name: "PostgresError",
    code: "40001",
  });
  expect(await written()).toEqual(["inner"]);
});

it("an aborted transaction tells what aborted it", async () => {
  const work = async (tx: Tx) => {
    await tx`SELECT 1 / 0`.catch(() => {});
    await insert(tx, "wrong");
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ code: "22012" });
});

it("a statement that ends the transaction itself is an error, and what follows it is not run", async () => {
  for (const end of ["commit", "rollback"]) {
    const work = async (tx: Tx) => {
      await tx.unsafe(end);
      await insert(tx, "outside");
    };
    await expect(runGuarded(sql, work)).rejects.toThrow("A statement ended the transaction");
  }
  expect(await written()).toEqual([]);
});

it("a transaction that cannot be opened is a StoreError, and the work is not run", async () => {
  const name = freshName();
  const named = plainClient(sharedUrl, { max: 2, connection: { application_name: name } });
  let ran = false;
  const work = () => {
    ran = true;
  };
  const begins = { "begin nonsense": "42601", "begin; set local lock_timeout = 'soon'": "22023" };
  for (const [begin, code] of Object.entries(begins)) {
    await expect(runGuarded(named, work, { begin, id: "an id" })).rejects.toMatchObject({
      code: "BQ_STORE_FAILED",
      operation: "transact",
      id: "an id",
      cause: { code },
    });
  }
  const nowhere = plainClient("postgres://nobody@127.0.0.1:1/nothing", { max: 1 });
  await expect(runGuarded(nowhere, work)).rejects.toMatchObject({
    code: "BQ_STORE_FAILED",
    cause: { code: "ECONNREFUSED" },
  });
  expect(ran).toBe(false);
  const states = await sql`SELECT DISTINCT state FROM pg_stat_activity WHERE application_name = ${name}`;
  expect(states).toEqual([{ state: "idle" }]);
});
