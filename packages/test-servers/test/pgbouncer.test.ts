import postgres from "postgres";
import { expect, inject, test, vi } from "vitest";
import { startPgBouncer } from "../src/index.ts";

vi.setConfig({ testTimeout: 60_000 });

test("in transaction mode many clients share few connections of the server", async () => {
  await using bouncer = await startPgBouncer(inject("postgresUrl"), { poolSize: 2 });
  const clients = Array.from({ length: 8 }, () => postgres(bouncer.url, { max: 1, prepare: false }));
  // Long enough for all of them to want a connection at once.
  const answers = await Promise.all(
    clients.map((sql) => sql`SELECT pg_backend_pid() AS backend, pg_sleep(0.3)`),
  );
  const backends = new Set(answers.map(([row]) => row?.backend));
  expect(backends.size).toBeLessThanOrEqual(2);
  await Promise.all(clients.map((sql) => sql.end()));
});

test("in session mode a client keeps its connection of the server", async () => {
  await using bouncer = await startPgBouncer(inject("postgresUrl"), { poolMode: "session" });
  const clients = Array.from({ length: 3 }, () => postgres(bouncer.url, { max: 1 }));
  const answers = await Promise.all(clients.map((sql) => sql`SELECT pg_backend_pid() AS backend`));
  expect(new Set(answers.map(([row]) => row?.backend)).size).toBe(3);
  await Promise.all(clients.map((sql) => sql.end()));
});
