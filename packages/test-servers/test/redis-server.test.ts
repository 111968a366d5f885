import { Redis } from "ioredis";
import { afterEach, expect, test, vi } from "vitest";
import { type RedisServer, startRedis } from "../src/index.ts";

vi.setConfig({ testTimeout: 60_000 });

const clients: Redis[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

function connect({ url }: RedisServer): Redis {
  const client = new Redis(url, { retryStrategy: null, maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  clients.push(client);
  return client;
}

test("a killed server refuses connections, and a restarted one answers on the same port", async () => {
  await using server = await startRedis();
  expect(await connect(server).ping()).toBe("PONG");
  await server.kill();
  await expect(connect(server).ping()).rejects.toThrow();
  await server.restart();
  expect(await connect(server).ping()).toBe("PONG");
});

test("a persistent server keeps acknowledged writes when it is killed", async () => {
  await using server = await startRedis({ persistent: true });
  await connect(server).set("key", "value");
  await server.kill();
  await server.restart();
  expect(await connect(server).get("key")).toBe("value");
});

test("a server forgets everything when it is restarted, unless it is persistent", async () => {
  await using server = await startRedis();
  await connect(server).set("key", "value");
  await server.restart();
  expect(await connect(server).get("key")).toBeNull();
});

test("a paused server answers nothing until it is resumed", async () => {
  await using server = await startRedis();
  const client = connect(server);
  await client.ping();
  await server.pause();
  let answered = false;
  const answer = client.ping().then(() => {
    answered = true;
  });
  // A round trip to a server that runs is longer than the answer would have taken.
  await using other = await startRedis();
  await connect(other).ping();
  expect(answered).toBe(false);
  await server.resume();
  await answer;
});

test("a paused server can be stopped", async () => {
  const server = await startRedis();
  await server.pause();
  await server.stop();
  await expect(connect(server).ping()).rejects.toThrow();
});

test("further arguments reach the server, and win", async () => {
  await using server = await startRedis({ args: ["--maxmemory", "3mb", "--appendonly", "yes"] });
  expect(await connect(server).config("GET", "maxmemory")).toEqual(["maxmemory", "3145728"]);
  expect(await connect(server).config("GET", "appendonly")).toEqual(["appendonly", "yes"]);
});

test("a server that does not start is reported with what it said", async () => {
  await expect(startRedis({ args: ["--maxmemory", "much"] })).rejects.toThrow(
    /argument must be a memory value/,
  );
});

test("servers that start at once get ports of their own", async () => {
  const servers = await Promise.all(Array.from({ length: 5 }, () => startRedis()));
  expect(new Set(servers.map(({ port }) => port)).size).toBe(5);
  await Promise.all(servers.map((server) => server.stop()));
});
