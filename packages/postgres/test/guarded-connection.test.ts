// What else can happen to the connection of a transaction. In each case nothing may be kept, and the pool must work on.
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "@bq/idempotency-test-servers";
import type postgres from "postgres";
import { expect, it, onTestFinished } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, ownProxy, plainClient, sharedPgBouncer, sharedUrl } from "./support/database.ts";

type Tx = postgres.TransactionSql;

const bouncer = await sharedPgBouncer();
const lost = {
  name: "StoreError",
  code: "BQ_STORE_FAILED",
  message: expect.stringContaining("connection was lost"),
};

async function withTable(sql: postgres.Sql): Promise<string> {
  const table = freshName();
  await sql`CREATE TABLE ${sql(table)} (who text)`;
  return table;
}

const insert = (tx: Tx, table: string, who: string) => tx`INSERT INTO ${tx(table)} VALUES (${who})`;

const pidOf = async (tx: Tx): Promise<number> => {
  const [row] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  return row.pid;
};

async function terminate(admin: postgres.Sql, pid: number): Promise<void> {
  await admin`SELECT pg_terminate_backend(${pid})`;
  while ((await admin`SELECT FROM pg_stat_activity WHERE pid = ${pid}`).count > 0) await delay(10);
}

/** What is thrown from now on where nobody can catch it. */
function noteUncaught(): () => readonly unknown[] {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  onTestFinished(() => {
    process.off("uncaughtException", note).off("unhandledRejection", note);
  });
  return () => uncaught;
}

function gate(): { open: () => void; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

it("a server that is killed and started again in the middle ends the transaction", async () => {
  // What was committed before must outlive the kill.
  const server = await startPostgres({ durable: true });
  onTestFinished(() => server.stop());
  const sql = plainClient(server.url, { max: 2, backoff: () => 0.05 });
  const table = await withTable(sql);
  const work = async (tx: Tx) => {
    await insert(tx, table, "mark");
    await server.kill();
    await server.restart();
    await insert(tx, table, "effect");
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject(lost);
  expect(await runGuarded(sql, (tx) => tx`SELECT FROM ${tx(table)}`)).toHaveLength(0);
}, 60_000);

it("a connection that the network resets ends the transaction, idle or not", async () => {
  const proxy = await ownProxy();
  const [sql, admin] = [plainClient(proxy.url, { max: 1, backoff: () => 0.01 }), plainClient()];
  const table = await withTable(admin);
  const idle = async (tx: Tx) => {
    await insert(tx, table, "mark");
    proxy.cutOnce();
    await insert(tx, table, "at once");
    await insert(tx, table, "at once");
  };
  const busy = async (tx: Tx) => {
    await insert(tx, table, "mark");
    const answer = proxy.cutBeforeReply();
    await Promise.allSettled([insert(tx, table, "answer lost"), insert(tx, table, "never sent"), answer]);
    await insert(tx, table, "later");
  };
  for (const work of [idle, busy, idle, busy]) {
    await expect(runGuarded(sql, work)).rejects.toMatchObject(lost);
    expect(await sql`SELECT 1`).toHaveLength(1);
    expect(await admin`SELECT FROM ${admin(table)}`).toHaveLength(0);
  }
});

it("a transaction that is begun on a connection between its reset and its closing spoils nothing", async () => {
  const { hostname, port } = new URL(sharedUrl);
  const sockets: Socket[] = [];
  const socket = () => {
    sockets.push(connect(Number(port), hostname));
    return sockets.at(-1);
  };
  const sql = plainClient(sharedUrl, { max: 1, socket, backoff: () => 0.01 } as object);
  await sql`SELECT 1`;
  const [first] = sockets;
  const begun = new Promise((resolve) => first?.once("error", () => resolve(runGuarded(sql, () => 1))));
  first?.destroy(new Error("reset"));
  await expect(begun).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
  // With its answers counted wrongly the connection would answer one of these, and then wait for ever.
  for (const n of [1, 2, 3]) expect(await sql`SELECT ${n}::int AS n`).toEqual([{ n }]);
});

it("a server connection that dies behind PgBouncer ends the transaction", async () => {
  const [sql, admin] = [plainClient(bouncer.url, { max: 2, prepare: false }), plainClient()];
  const table = await withTable(admin);
  const work = async (tx: Tx) => {
    await insert(tx, table, "mark");
    await terminate(admin, await pidOf(tx));
    await insert(tx, table, "effect").catch(() => {});
    await insert(tx, table, "effect");
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
  expect(await sql`SELECT 1`).toHaveLength(1);
  expect(await admin`SELECT FROM ${admin(table)}`).toHaveLength(0);
});

it("a statement that takes longer than statement_timeout rolls back, and the connection stays", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const table = await withTable(sql);
  const pid = () => sql`SELECT pg_backend_pid()`.values();
  const before = await pid();
  const work = async (tx: Tx) => {
    await insert(tx, table, "mark");
    await tx`SET LOCAL statement_timeout = 20`;
    await tx`SELECT pg_sleep(3600)`.catch(() => {});
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject({ code: "57014" });
  expect(await pid()).toEqual(before);
  expect(await sql`SELECT FROM ${sql(table)}`).toHaveLength(0);
});

it("a transaction that follows another at once on the same connection notices when it dies", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const first = runGuarded(sql, (tx) => tx`SELECT 1 AS one`);
  const second = runGuarded(sql, async (tx) => {
    await terminate(admin, await pidOf(tx));
    await tx`SELECT 2`;
  });
  await expect(second).rejects.toMatchObject(lost);
  expect(await first).toEqual([{ one: 1 }]);
});

it("a cursor whose rows are still being handled when its connection dies sends nothing more", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const uncaught = noteUncaught();
  const series = (tx: Tx) => tx`SELECT n FROM generate_series(1, 100) AS n`;
  for (const reconnectFirst of [false, true]) {
    const handled = gate();
    const byCallback = async (tx: Tx) => {
      const pid = await pidOf(tx);
      await series(tx).cursor(1, async () => {
        await terminate(admin, pid);
        await handled.opened;
      });
    };
    await expect(runGuarded(sql, byCallback)).rejects.toMatchObject(lost);
    if (reconnectFirst) await runGuarded(sql, (tx) => tx`SELECT 1`);
    handled.open();
    await delay(20);
    expect(await runGuarded(sql, (tx) => tx`SELECT 2 AS two`)).toEqual([{ two: 2 }]);
  }
  const byLoop = async (tx: Tx) => {
    const pid = await pidOf(tx);
    for await (const _ of series(tx).cursor(1)) await terminate(admin, pid);
  };
  await expect(runGuarded(sql, byLoop)).rejects.toMatchObject(lost);
  expect(uncaught()).toEqual([]);
});

it("a COPY whose connection dies ends the transaction and nothing else", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const uncaught = noteUncaught();
  const work = async (tx: Tx) => {
    await tx`CREATE TEMP TABLE copied (n int) ON COMMIT DROP`;
    const pid = await pidOf(tx);
    const copy = await tx`COPY copied FROM STDIN`.writable();
    copy.write("1\n");
    await terminate(admin, pid);
    await delay(50);
    copy.write("2\n");
  };
  await expect(runGuarded(sql, work)).rejects.toMatchObject(lost);
  expect(await runGuarded(sql, (tx) => tx`SELECT 1`)).toHaveLength(1);
  expect(uncaught()).toEqual([]);
});

it("a transaction is not told how the one before it on the same connection ended", async () => {
  const [sql, admin] = [plainClient(undefined, { max: 1 }), plainClient()];
  const work = async (tx: Tx) => {
    const pid = await pidOf(tx);
    const asleep = tx`SELECT pg_sleep(3600)`.execute();
    const isAsleep = () => admin`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
    while ((await isAsleep()).count === 0) await delay(10);
    await admin`SELECT pg_terminate_backend(${pid})`;
    await asleep;
  };
  for (let round = 0; round < 3; round++) {
    await expect(runGuarded(sql, work)).rejects.toMatchObject(lost);
  }
});

it("a cursor or a COPY that the work leaves open is an error, not a wait without end", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const works: ((tx: Tx) => Promise<unknown>)[] = [
    async (tx) => {
      const rows = tx`SELECT n FROM generate_series(1, 9) AS n`.cursor(1)[Symbol.asyncIterator]();
      await rows.next();
    },
    (tx) => tx`COPY (SELECT generate_series(1, 1000000)) TO STDOUT`.readable(),
    async (tx) => {
      await tx`CREATE TEMP TABLE copied (n int) ON COMMIT DROP`;
      await tx`COPY copied FROM STDIN`.writable();
    },
  ];
  for (const work of works) {
    await expect(runGuarded(sql, work)).rejects.toThrow("left with a cursor or a COPY still open");
    expect(await sql`SELECT 1`).toHaveLength(1);
  }
});

it("a cursor that the work breaks off is closed, and the transaction goes on", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const first = await runGuarded(sql, async (tx) => {
    for await (const [row] of tx`SELECT n FROM generate_series(1, 9) AS n`.cursor(1)) return row?.n;
  });
  expect(first).toBe(1);
});

it("under a load at which the driver does not tell which connection it took, no transaction is left open", async () => {
  const name = freshName();
  const options = { max: 1, max_pipeline: 1, connection: { application_name: name } };
  const [sql, admin] = [plainClient(undefined, options), plainClient()];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0
        ? sql.unsafe(`SELECT ${n} AS n`).execute()
        : runGuarded(sql, (tx) => tx`SELECT ${n}::int AS n`),
    ),
  );
  expect(answers.map(([row]) => row?.n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  const states = await admin`SELECT state FROM pg_stat_activity WHERE application_name = ${name}`;
  expect(states).toEqual([{ state: "idle" }]);
});

it("a pool that is ended in the middle waits for the transaction, or ends it with an error", async () => {
  const patient = plainClient(undefined, { max: 1 });
  let ended: Promise<void> | undefined;
  const value = await runGuarded(patient, async (tx) => {
    ended = patient.end();
    await tx`SELECT 1`;
    return "done";
  });
  expect(value).toBe("done");
  await ended;

  const impatient = plainClient(undefined, { max: 1 });
  const work = async (tx: Tx) => {
    await tx`SELECT 1`;
    await impatient.end({ timeout: 0 });
    await tx`SELECT 2`;
  };
  await expect(runGuarded(impatient, work)).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
});
