// A transaction that hangs is given up by its caller's signal: its connection is closed, and its place in the pool is free.
import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { expect, it } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, ownProxy, ownServer, plainClient } from "./support/database.ts";

type Tx = postgres.TransactionSql;

const never = () => new Promise<never>(() => {});
const timeout = new RangeError("took too long");

async function withTable(sql: postgres.Sql): Promise<string> {
  const table = freshName();
  await sql`CREATE TABLE ${sql(table)} (who text)`;
  return table;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

const pidOf = async (tx: Tx): Promise<number> => {
  const [row] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  return row.pid;
};

it("work that never settles is given up, rolled back, and its tx closed", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const table = await withTable(sql);
  const giveUp = new AbortController();
  let kept: Tx | undefined;
  const hangs = async (tx: Tx) => {
    kept = tx;
    await tx`INSERT INTO ${tx(table)} VALUES ('wrong')`;
    giveUp.abort(timeout);
    await never();
  };
  await expect(runGuarded(sql, hangs, { signal: giveUp.signal })).rejects.toBe(timeout);
  await expect((kept as unknown as Tx)`SELECT 1`).rejects.toMatchObject({
    code: "BQ_STORE_FAILED",
    cause: timeout,
  });
  expect(await runGuarded(sql, () => "works on")).toBe("works on");
  expect(await admin`SELECT FROM ${admin(table)}`).toHaveLength(0);
});

it("a statement that hangs is stopped on the server, so that its locks are free", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const giveUp = new AbortController();
  let pid = 0;
  const hangs = async (tx: Tx) => {
    pid = await pidOf(tx);
    await tx`SELECT pg_sleep(3600)`;
  };
  const outcome = runGuarded(sql, hangs, { signal: giveUp.signal });
  outcome.catch(() => {});
  const asleep = () => admin`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
  await until(async () => (await asleep()).count === 1);
  giveUp.abort(timeout);
  await expect(outcome).rejects.toBe(timeout);
  await until(async () => (await admin`SELECT FROM pg_stat_activity WHERE pid = ${pid}`).count === 0);
  expect(await sql`SELECT 1`).toHaveLength(1);
});

it("a connection that a black hole swallowed is given up at once, and its place in the pool is free", async () => {
  const proxy = await ownProxy();
  // The request to stop the statement is swallowed as well, and is given up after this time.
  const closed = new AbortController();
  const sql = plainClient(proxy.url, { max: 1, connect_timeout: 1, onclose: () => closed.abort() });
  const giveUp = new AbortController();
  const hangs = async (tx: Tx) => {
    await tx`SELECT 1`;
    proxy.blackHole();
    setTimeout(() => giveUp.abort(timeout), 50);
    await tx`SELECT 2`;
  };
  await expect(runGuarded(sql, hangs, { signal: giveUp.signal })).rejects.toBe(timeout);
  // While the proxy swallows a goodbye too, so that one that is merely ended stays open.
  await until(async () => closed.signal.aborted);
  // The request as well: it would be reset, and that is not what this is about.
  await until(async () => proxy.connections === 0);
  await proxy.heal();
  expect(await runGuarded(sql, (tx) => tx`SELECT 3 AS three`)).toEqual([{ three: 3 }]);
}, 30_000);

it("a COMMIT that is given up on has an unknown outcome", async () => {
  const server = await ownServer();
  const sql = plainClient(server.url, { max: 1 });
  const giveUp = new AbortController();
  const work = async (tx: Tx) => {
    await tx`SELECT 1`;
    await server.pause();
    setTimeout(() => giveUp.abort(timeout), 50);
  };
  await expect(runGuarded(sql, work, { signal: giveUp.signal })).rejects.toMatchObject({
    code: "BQ_COMMIT_UNKNOWN",
    cause: timeout,
  });
  await server.resume();
  expect(await sql`SELECT 1`).toHaveLength(1);
}, 30_000);

it("a wait for a connection of a pool that transactions have used up is given up", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const giveUp = new AbortController();
  let innerRan = false;
  // The outer transaction waits for the inner one, which waits for the outer one's connection.
  const outer = runGuarded(sql, async () => {
    setTimeout(() => giveUp.abort(timeout), 50);
    const inner = () => {
      innerRan = true;
    };
    await runGuarded(sql, inner, { signal: giveUp.signal });
  });
  await expect(outer).rejects.toBe(timeout);
  expect(innerRan).toBe(false);
  expect(await sql`SELECT 1`).toHaveLength(1);
  expect(innerRan).toBe(false);
});

it("a signal that has aborted already opens no transaction", async () => {
  const sql = plainClient();
  const work = () => expect.unreachable();
  await expect(runGuarded(sql, work, { signal: AbortSignal.abort(timeout) })).rejects.toBe(timeout);
});

it("a signal keeps nothing of a transaction that is over, and ends nothing when it aborts later", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const giveUp = new AbortController();
  const pid = await runGuarded(sql, pidOf, { signal: giveUp.signal });
  expect(getEventListeners(giveUp.signal, "abort")).toEqual([]);
  giveUp.abort(timeout);
  await delay(20);
  expect(await runGuarded(sql, pidOf)).toBe(pid);
});

it("a connection is given up cleanly while the driver is about to write on it", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const giveUp = new AbortController();
  const work = async (tx: Tx) => {
    // With a parameter the driver asks about it first, and writes again when it has the answer.
    tx`SELECT ${1}::int`.execute();
    await Promise.resolve();
    await Promise.resolve();
    setImmediate(() => {
      // By now the statement is sent. Its answer is there before the connection is closed, in the next turn.
      giveUp.abort(timeout);
      const end = performance.now() + 50;
      while (performance.now() < end);
    });
    await never();
  };
  await expect(runGuarded(sql, work, { signal: giveUp.signal })).rejects.toBe(timeout);
  expect(await sql`SELECT 2 AS two`).toEqual([{ two: 2 }]);
});
