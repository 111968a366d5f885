import { type AddressInfo, connect, createServer } from "node:net";
import type postgres from "postgres";
import { expect, it, onTestFinished } from "vitest";
import { runGuarded } from "../src/guard/transaction.ts";
import { freshName, plainClient, sharedUrl } from "./support/database.ts";

const refusal = "RevalidateCachedQuery";

/** A way to the server that breaks, once it is armed, between the refusal of a prepared statement and the end of that answer. */
async function breakingAfterRefusal(): Promise<{ url: string; arm: () => void; broke: () => boolean }> {
  let armed = false;
  let broke = false;
  const { hostname, port } = new URL(sharedUrl);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.pipe(upstream);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => setTimeout(() => client.destroy(), 20));
    upstream.on("data", (data) => {
      const at = armed ? data.indexOf(refusal) : -1;
      // Behind the name of the routine two zeros end the field and the message.
      client.write(at < 0 ? data : data.subarray(0, at + refusal.length + 2));
      if (at < 0) return;
      armed = false;
      broke = true;
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = new URL(sharedUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    arm: () => {
      armed = true;
    },
    broke: () => broke,
  };
}

it("a statement that was refused when the connection died is not repeated on the next one", async () => {
  const [admin, table] = [plainClient(), freshName()];
  await admin`CREATE TABLE ${admin(table)} (a INT)`;
  const way = await breakingAfterRefusal();
  const sql = plainClient(way.url, { max: 1, backoff: () => 0.01 });
  const work = (tx: postgres.TransactionSql) => tx`INSERT INTO ${tx(table)} VALUES (1) RETURNING *`;
  for (let n = 0; n < 2; n++) await runGuarded(sql, work);
  await admin`ALTER TABLE ${admin(table)} ADD COLUMN b INT`;
  way.arm();
  await expect(runGuarded(sql, work)).rejects.toThrow();
  expect(way.broke()).toBe(true);
  // The driver gives the old refusal to whoever is next.
  await sql`SELECT 1`.catch(() => {});
  expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  expect(await admin`SELECT FROM ${admin(table)}`).toHaveLength(2);
});
