// The guarded tx understands whatever the driver's own does, on any client that a user may lend.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, plainClient, sharedPgBouncer, sharedUrl } from "./support/database.ts";

type Tx = postgres.TransactionSql;

const bouncer = await sharedPgBouncer();
const clients = {
  "a plain client": postgres(sharedUrl, { max: 2, onnotice() {} }),
  "a peculiar client": postgres(sharedUrl, {
    max: 1,
    prepare: false,
    fetch_types: false,
    debug: true,
    onnotice() {},
    transform: { ...postgres.camel, undefined: null },
    types: { bool: { to: 16, from: [16], serialize: String, parse: String } },
  }),
  "a client of PgBouncer": postgres(bouncer.url, { max: 2, prepare: false, onnotice() {} }),
};
afterAll(() => Promise.all(Object.values(clients).map((sql) => sql.end({ timeout: 5 }))));

describe.each(Object.entries(clients))("on %s", (_, sql) => {
  let table: string;
  beforeEach(async () => {
    table = freshName();
    await sql`CREATE TABLE ${sql(table)} (n int, who text, doc jsonb)`;
  });
  const written = async () =>
    (await sql`SELECT who FROM ${sql(table)} ORDER BY who`.values()).map(([who]) => who);

  it("all forms of a statement run inside the transaction", async () => {
    const folder = await mkdtemp(join(tmpdir(), "guarded-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "insert.sql");
    await writeFile(file, `INSERT INTO ${table} (who) VALUES ($1)`);
    const seen: unknown[] = [];
    const work = async (tx: Tx) => {
      const into = tx`INSERT INTO ${tx(table)}`;
      await tx`${into} ${tx({ n: 1, who: "helper", doc: tx.json({ a: [1] }) }, "n", "who", "doc")}`;
      await tx`${into} ${tx([{ n: 2, who: "list" }])}`;
      await tx`${into} (who) SELECT upper(${tx`lower(${"NESTED"})`})`;
      await tx`UPDATE ${tx(table)} SET ${tx({ who: "updated" })} WHERE who = ${"list"}`;
      await tx.unsafe(`INSERT INTO ${table} (who) VALUES ($1)`, ["unsafe"]);
      await tx.unsafe(
        `INSERT INTO ${table} (who) VALUES ('simple'); INSERT INTO ${table} (who) VALUES ('two')`,
      );
      await tx.file(file, ["file"]);
      await pipeline(Readable.from(["3\tcopied\t\\N\n"]), await tx`COPY ${tx(table)} FROM STDIN`.writable());
      for await (const [row] of tx<{ who: string }[]>`SELECT who FROM ${tx(table)} ORDER BY who`.cursor(1)) {
        seen.push(row?.who);
      }
      await tx`SELECT who FROM ${tx(table)} WHERE n = ${1}`.cursor(10, async (rows) =>
        seen.push(rows.length),
      );
      await tx`SELECT 1 AS one`.forEach((row) => {
        seen.push(row.one);
      });
      seen.push(await tx`SELECT ${"v"}::text`.values(), (await tx`SELECT 1`.raw())[0]?.[0]?.toString());
      seen.push((await tx`SELECT ${1}::int AS n`.describe()).columns.length);
      seen.push(await tx`SELECT 5 AS five`.simple().then(([row]) => row?.five));
      seen.push(await tx`SELECT ${tx.typed("7", 23)}::int AS n`.then(([row]) => row?.n));
      let copied = "";
      for await (const chunk of await tx`COPY (SELECT 6) TO STDOUT`.readable()) copied += chunk;
      seen.push(copied);
      throw new RangeError("undo all of it");
    };
    await expect(runGuarded(sql, work)).rejects.toThrow("undo all of it");
    const rows = ["NESTED", "copied", "file", "helper", "simple", "two", "unsafe", "updated"];
    expect(seen).toEqual([...rows, 1, 1, [["v"]], "1", 1, 5, 7, "6\n"]);
    expect(await written()).toEqual([]);
  });

  it("a failed savepoint undoes what it did, and no more", async () => {
    const insert = (tx: Tx, who: string) => tx`INSERT INTO ${tx(table)} ${tx({ who })}`;
    const value = await runGuarded(sql, async (tx) => {
      await insert(tx, "before");
      await tx.savepoint("named", async (inner) => {
        await insert(inner, "inside");
        await inner.savepoint((deeper) => insert(deeper, "deeper"));
        const failing = inner.savepoint(async (deeper) => {
          await insert(deeper, "undone");
          await deeper`SELECT 1 / 0`;
        });
        await expect(failing).rejects.toMatchObject({ code: "22012" });
        const swallowing = inner.savepoint(async (deeper) => {
          await insert(deeper, "undone");
          await deeper`SELECT 1 / 0`.catch(() => {});
        });
        await expect(swallowing).rejects.toMatchObject({ code: "22012" });
      });
      return tx.savepoint(() => "value of the savepoint");
    });
    expect(value).toBe("value of the savepoint");
    expect(await written()).toEqual(["before", "deeper", "inside"]);
  });

  it("statements that are issued together run one after another, in order", async () => {
    const answers = await runGuarded(sql, (tx) =>
      Promise.all([1, 2, 3].map((n) => tx`SELECT ${n}::int AS n`)),
    );
    expect(answers.map(([row]) => row?.n)).toEqual([1, 2, 3]);
    const array = await runGuarded(sql, (tx) => [tx`SELECT 1 AS n`, tx`SELECT 2 AS n`]);
    expect(array).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  });

  it("settings of the transaction ride along with BEGIN, and end with it", async () => {
    const begin = "begin; set local lock_timeout = '1234ms'";
    expect(await runGuarded(sql, (tx) => tx`SHOW lock_timeout`.values(), { begin })).toEqual([["1234ms"]]);
    expect(await runGuarded(sql, (tx) => tx`SHOW lock_timeout`.values())).toEqual([["0"]]);
  });

  it("a statement that is cancelled before its turn is not run and holds up nothing", async () => {
    const work = async (tx: Tx) => {
      const first = tx`SELECT pg_sleep(0.02)`.execute();
      const second = tx`INSERT INTO ${tx(table)} ${tx({ who: "cancelled" })}`.execute();
      await Promise.resolve();
      second.cancel();
      await first;
      await tx`SELECT 1`;
    };
    await expect(runGuarded(sql, work)).rejects.toMatchObject({ code: "57014" });
    expect(await written()).toEqual([]);
  });

  it("many transactions at once keep apart", async () => {
    const transactions = Array.from({ length: 20 }, (_, n) =>
      runGuarded(sql, async (tx) => {
        await tx`INSERT INTO ${tx(table)} ${tx({ who: String(n).padStart(2, "0") })}`;
        if (n % 2 === 1) throw new RangeError("odd");
      }).catch(() => {}),
    );
    await Promise.all(transactions);
    expect(await written()).toEqual(["00", "02", "04", "06", "08", "10", "12", "14", "16", "18"]);
  });
});

it("a notification is sent with the COMMIT, or not at all", async () => {
  const [sql, listener] = [plainClient(), plainClient(undefined, { max: 1 })];
  const channel = freshName();
  const heard: string[] = [];
  await listener.listen(channel, (payload) => heard.push(payload));
  const rolledBack = async (tx: Tx) => {
    await tx.notify(channel, "rolled back");
    throw new RangeError("no");
  };
  await expect(runGuarded(sql, rolledBack)).rejects.toThrow("no");
  await runGuarded(sql, (tx) => tx.notify(channel, "committed"));
  while (!heard.includes("committed")) await delay(5);
  expect(heard).toEqual(["committed"]);
});

it("arrays travel as the client knows them", async () => {
  const sql = plainClient();
  const list = (tx: Tx) => tx`SELECT ${tx.array([1, 2])}::int[] AS list`;
  expect(await runGuarded(sql, list)).toEqual([{ list: [1, 2] }]);
});

it("a transaction cannot be prepared for a later commit", async () => {
  const sql = plainClient();
  await expect(runGuarded(sql, (tx) => tx.prepare("later"))).rejects.toThrow(TypeError);
});

it("a connection that its owner reserved is refused", async () => {
  const sql = plainClient(undefined, { max: 1 });
  const reserved = await sql.reserve();
  await expect(runGuarded(reserved, () => 1)).rejects.toThrow("a reserved connection cannot be used");
  expect(await reserved`SELECT 1`).toHaveLength(1);
  reserved.release();
  expect(await runGuarded(sql, () => 1)).toBe(1);
});
