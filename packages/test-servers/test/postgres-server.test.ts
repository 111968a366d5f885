import postgres from "postgres";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { faketime, type PostgresServer, startPostgres } from "../src/index.ts";
import { until } from "../src/until.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: PostgresServer;
const clients: postgres.Sql[] = [];

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.stop());

afterEach(async () => {
  await Promise.all(clients.splice(0).map((sql) => sql.end({ timeout: 0 })));
});

function connect(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, fetch_types: false });
  clients.push(sql);
  return sql;
}

test("the role of the URL is a superuser", async () => {
  const [role] = await connect(server.url)`SELECT rolsuper FROM pg_roles WHERE rolname = current_user`;
  expect(role).toEqual({ rolsuper: true });
});

test("every database that is created is empty and another one", async () => {
  const [first, second] = await Promise.all([server.createDatabase(), server.createDatabase()]);
  await connect(first)`CREATE TABLE marks ()`;
  expect(await connect(second)`SELECT to_regclass('marks') AS found`).toEqual([{ found: null }]);
});

test("a server is killed with all its backends, busy ones too, and restarts on the same port with its data", async () => {
  const url = await server.createDatabase();
  await connect(url)`CREATE TABLE kept ()`;
  const cut = connect(url)`SELECT count(*) FROM generate_series(1, 1e12)`.catch((error: Error) => error);
  const watcher = connect(url);
  await until("a backend is busy", async () => {
    return (
      (await watcher`SELECT FROM pg_stat_activity WHERE query LIKE '%1e12%' AND pid <> pg_backend_pid()`)
        .length === 1
    );
  });
  await server.kill();
  expect(await cut).toBeInstanceOf(Error);
  // Postgres refuses to start as long as one backend of the killed server lives.
  await server.restart();
  expect(await connect(url)`SELECT to_regclass('kept')::text AS found`).toEqual([{ found: "kept" }]);
});

test("a paused server answers nothing, on open connections neither, until it is resumed", async () => {
  const [paused, running] = [connect(server.url), connect(inject("postgresUrl"))];
  await Promise.all([paused`SELECT 1`, running`SELECT 1`]);
  await server.pause();
  let answered = false;
  const answer = paused`SELECT 2 AS two`.then((rows) => {
    answered = true;
    return rows;
  });
  for (let trip = 0; trip < 20; trip += 1) await running`SELECT 1`;
  expect(answered).toBe(false);
  await server.resume();
  expect(await answer).toEqual([{ two: 2 }]);
});

test("a server waits for the disk only when it is durable", async () => {
  const settings = (sql: postgres.Sql) =>
    sql`SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit`;
  expect(await settings(connect(server.url))).toEqual([{ fsync: "off", synchronous_commit: "on" }]);
  await using durable = await startPostgres({ durable: true, settings: { max_connections: "21" } });
  const sql = connect(durable.url);
  expect(await settings(sql)).toEqual([{ fsync: "on", synchronous_commit: "on" }]);
  expect(await sql`SHOW max_connections`).toEqual([{ max_connections: "21" }]);
});

test("a server that does not start is reported with what it said", async () => {
  await expect(startPostgres({ settings: { max_connections: "many" } })).rejects.toThrow(
    /invalid value for parameter "max_connections": "many"/,
  );
});

test("the clock of a server can be another one than that of the machine", async () => {
  await using skewed = await startPostgres({ env: await faketime("-2d") });
  const [row] = await connect(skewed.url)`SELECT now() < ${new Date(Date.now() - 86_400_000)} AS behind`;
  expect(row).toEqual({ behind: true });
});
