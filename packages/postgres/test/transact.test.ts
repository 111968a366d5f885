import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, ownProxy, plainClient } from "./support/database.ts";
import { until } from "./support/until.ts";

/** A store, and a table for the effects of its transactions. */
async function withEffects(options: Parameters<typeof openStore>[0] = {}) {
  const effects = freshName();
  const sql = plainClient();
  await sql`CREATE TABLE ${sql(effects)} (effect TEXT UNIQUE DEFERRABLE INITIALLY DEFERRED)`;
  const store = await openStore(options);
  return {
    store,
    sql,
    effects,
    write: (tx: typeof sql | Parameters<Parameters<PostgresStore["transact"]>[1]>[0], effect: string) =>
      tx`INSERT INTO ${sql(effects)} VALUES (${effect})`,
    written: async () => (await sql`SELECT effect FROM ${sql(effects)} ORDER BY 1`.values()).flat(),
  };
}

describe("transact", () => {
  it("queries that the work returns in an array are sent and committed", async () => {
    const { store, write, written } = await withEffects();
    const result = await store.transact("id", (tx) => [write(tx, "one"), write(tx, "two")]);
    expect(result).toMatchObject({ status: "ran", value: [[], []] });
    expect(await written()).toEqual(["one", "two"]);
  });

  it("a duplicate waits no longer than lockTimeoutMs, and is told to come back later", async () => {
    const table = freshName();
    const { store, write, written } = await withEffects({ table });
    const impatient = await openStore({ table, lockTimeoutMs: 100 });
    const first = await store.transact("id", async (tx) => {
      await write(tx, "first");
      return impatient.transact("id", (other) => write(other, "second"));
    });
    expect(first).toEqual({ status: "ran", value: { status: "in-flight", retryAfterMs: 100 } });
    expect(await written()).toEqual(["first"]);
    expect(await impatient.transact("id", () => 1)).toEqual({ status: "processed" });
  });

  it("a statement_timeout of the role while a duplicate waits means in-flight as well", async () => {
    const table = freshName();
    const { store } = await withEffects({ table });
    const hasty = new PostgresStore(plainClient(undefined, { connection: { statement_timeout: 100 } }), {
      table,
    });
    const { value } = (await store.transact("id", () => hasty.transact("id", () => 1))) as { value: unknown };
    expect(value).toMatchObject({ status: "in-flight" });
  });

  it("the time limit is for the mark alone: the work has its own lock_timeout, and its own failures", async () => {
    const table = freshName();
    const { sql, effects } = await withEffects({ table });
    const caller = plainClient(undefined, { connection: { lock_timeout: 234 } });
    const store = new PostgresStore(caller, { table, lockTimeoutMs: 50 });
    const { value } = (await store.transact("id", (tx) => tx`SHOW lock_timeout`.values())) as {
      value: unknown;
    };
    expect(value).toEqual([["234ms"]]);
    await sql.begin(async (holder) => {
      await holder`LOCK TABLE ${holder(effects)}`;
      await expect(store.transact("other", (tx) => tx`SELECT FROM ${tx(effects)}`)).rejects.toMatchObject({
        code: "55P03",
      });
    });
    expect(await caller`SHOW lock_timeout`.values()).toEqual([["234ms"]]);
  });

  it.each(["repeatable read", "serializable"] as const)(
    "a duplicate that waited skips at %s, too",
    async (isolation) => {
      const { store, sql, effects, written } = await withEffects();
      const table = freshName();
      const client = plainClient(undefined, {
        max: 8,
        connection: { default_transaction_isolation: isolation },
      });
      const strict = new PostgresStore(client, { table });
      await strict.migrate();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, worker) =>
          strict.transact("id", async (tx) => {
            await tx`INSERT INTO ${sql(effects)} VALUES (${`worker ${worker}`})`;
            await pause(20);
          }),
        ),
      );
      expect(answers.filter(({ status }) => status === "ran")).toHaveLength(1);
      expect(answers.filter(({ status }) => status === "processed")).toHaveLength(7);
      expect(await written()).toHaveLength(1);
      expect(await store.seen("id")).toBe(false);
    },
  );

  it("work that the server gave up for a conflict runs again, and its earlier writes are gone", async () => {
    const { store, write, written } = await withEffects();
    let runs = 0;
    const result = await store.transact("id", async (tx) => {
      await write(tx, `run ${++runs}`);
      if (runs < 3)
        await tx`DO $$ BEGIN RAISE 'conflict' USING ERRCODE = ${tx.unsafe(runs === 1 ? "'40001'" : "'40P01'")}; END $$`.simple();
      return runs;
    });
    expect(result).toEqual({ status: "ran", value: 3 });
    expect(await written()).toEqual(["run 3"]);
  });

  it("a conflict that never ends fails after the retries, and passes the work's error on", async () => {
    const { store, write, written } = await withEffects({ retries: 2 });
    let runs = 0;
    const failing = store.transact("id", async (tx) => {
      runs++;
      await write(tx, "effect");
      await tx`DO $$ BEGIN RAISE 'conflict' USING ERRCODE = '40001'; END $$`.simple();
    });
    await expect(failing).rejects.toMatchObject({ code: "40001" });
    expect(runs).toBe(3);
    expect(await written()).toEqual([]);
    expect(await store.seen("id")).toBe(false);
  });

  it("a transaction that the server refuses at COMMIT is an error, and leaves no mark", async () => {
    const { store, write, written } = await withEffects();
    const refused = store.transact("id", async (tx) => {
      await write(tx, "same");
      await write(tx, "same");
      return "done";
    });
    await expect(refused).rejects.toMatchObject({ name: "StoreError", cause: { code: "23505" } });
    expect(await store.seen("id")).toBe(false);
    expect(await written()).toEqual([]);
  });

  it("a failed statement whose error the work swallowed is an error all the same", async () => {
    const { store, write, written } = await withEffects();
    const swallowed = store.transact("id", async (tx) => {
      await write(tx, "effect");
      await tx`SELECT 1 / 0`.catch(() => undefined);
      return "done";
    });
    await expect(swallowed).rejects.toMatchObject({ name: "StoreError", cause: { code: "22012" } });
    expect(await store.seen("id")).toBe(false);
    expect(await written()).toEqual([]);
  });

  it("a COMMIT whose answer was lost is an error of its own, and the redelivery finds out", async () => {
    const table = freshName();
    const proxy = await ownProxy();
    const { store, write, written } = await withEffects({ table });
    const far = await openStore({ table, url: proxy.url, maxConnections: 1 });
    let cut: Promise<void> | undefined;
    const unknown = far.transact("id", async (tx) => {
      await write(tx, "effect");
      cut = proxy.cutBeforeReply();
    });
    await expect(unknown).rejects.toMatchObject({
      code: "BQ_COMMIT_UNKNOWN",
      retryAfterMs: expect.any(Number),
    });
    await cut;
    await until(() => store.seen("id"));
    expect(await store.transact("id", (tx) => write(tx, "again"))).toEqual({ status: "processed" });
    expect(await written()).toEqual(["effect"]);
  });

  it("two transactions that lock in opposite orders end in one retry, not in a failure", async () => {
    const { store, sql, effects, written } = await withEffects();
    await sql`INSERT INTO ${sql(effects)} VALUES ('x'), ('y')`;
    const swap = (first: string, second: string) =>
      store.transact(`${first}${second}`, async (tx) => {
        await tx`SELECT FROM ${sql(effects)} WHERE effect = ${first} FOR UPDATE`;
        await pause(100);
        await tx`SELECT FROM ${sql(effects)} WHERE effect = ${second} FOR UPDATE`;
      });
    expect(await Promise.all([swap("x", "y"), swap("y", "x")])).toEqual([
      { status: "ran", value: undefined },
      { status: "ran", value: undefined },
    ]);
    expect(await written()).toEqual(["x", "y"]);
  });
});
