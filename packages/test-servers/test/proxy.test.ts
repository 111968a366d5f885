import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type RedisServer, startProxy, startRedis, type Proxy as TcpProxy } from "../src/index.ts";
import { until } from "../src/until.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: RedisServer;
let direct: Redis;
let proxy: TcpProxy;
let clients: Redis[];

beforeAll(async () => {
  server = await startRedis();
  direct = new Redis(server.url);
});

afterAll(async () => {
  direct.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await direct.flushall();
  proxy = await startProxy(server);
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.disconnect();
  await proxy.stop();
});

/** A client behind the proxy that neither reconnects nor sends anything twice. */
function connect(): Redis {
  const client = new Redis({
    host: proxy.host,
    port: proxy.port,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  });
  client.on("error", () => {});
  clients.push(client);
  return client;
}

test("a proxy without a fault passes everything on, large values too", async () => {
  const value = "0123456789".repeat(1_000_000);
  const client = connect();
  await client.set("large", value);
  expect(await direct.get("large")).toBe(value);
  expect(await client.get("large")).toBe(value);
});

test("the proxy counts the connections of clients", async () => {
  const [first, second] = [connect(), connect()];
  await Promise.all([first.ping(), second.ping()]);
  expect(proxy.connections).toBe(2);
  first.disconnect();
  await until("one connection is left", () => proxy.connections === 1);
});

test("a connection that the client closes is closed on the server", async () => {
  const client = connect();
  await client.client("SETNAME", "leaving");
  await client.quit();
  await until(
    "the server has no such client",
    async () => !String(await direct.client("LIST")).includes("leaving"),
  );
});

test("cut() resets open connections, and refuses new ones until heal()", async () => {
  const client = connect();
  await client.ping();
  await proxy.cut();
  await expect(client.ping()).rejects.toThrow();
  const refused = new Promise((resolve) => connect().once("error", resolve));
  expect(await refused).toMatchObject({ code: "ECONNREFUSED" });
  await proxy.heal();
  expect(await connect().ping()).toBe("PONG");
});

test("cutOnce() resets open connections only", async () => {
  const client = connect();
  await client.ping();
  proxy.cutOnce();
  await expect(client.ping()).rejects.toThrow();
  expect(await connect().ping()).toBe("PONG");
});

test("cutBeforeReply() lets the request arrive, and loses the answer", async () => {
  const [client, other] = [connect(), connect()];
  await Promise.all([client.ping(), other.ping()]);
  const happened = proxy.cutBeforeReply();
  await expect(client.incr("count")).rejects.toThrow();
  await happened;
  expect(await direct.get("count")).toBe("1");
  // Once, and on that connection alone.
  expect(await other.incr("count")).toBe(2);
});

test("delay() holds answers back, keeps their order, and ends with heal()", async () => {
  const client = connect();
  await client.ping();
  proxy.delay(300);
  const start = performance.now();
  const slow = client.incr("count");
  await until("the request has arrived", async () => (await direct.get("count")) === "1");
  await proxy.heal();
  const fast = client.incr("count");
  expect(await Promise.all([slow, fast])).toEqual([1, 2]);
  // Timers may fire a millisecond early.
  expect(performance.now() - start).toBeGreaterThanOrEqual(299);
});

test("blackHole() swallows what an open connection sends, and resets it on heal()", async () => {
  const client = connect();
  await client.ping();
  proxy.blackHole();
  const lost = expect(client.set("key", "value")).rejects.toThrow();
  await until("the request is swallowed", () => proxy.swallowedBytes > 0);
  await proxy.heal();
  await lost;
  expect(await direct.exists("key")).toBe(0);
  expect(await connect().ping()).toBe("PONG");
});

test("blackHole() swallows what the server sends", async () => {
  const client = connect();
  await client.subscribe("channel");
  const messages: string[] = [];
  client.on("message", (_channel, message) => messages.push(message));
  const ended = new Promise((resolve) => client.once("end", resolve));
  proxy.blackHole();
  expect(await direct.publish("channel", "lost")).toBe(1);
  await until("the message is swallowed", () => proxy.swallowedBytes > 0);
  await proxy.heal();
  await ended;
  expect(messages).toEqual([]);
});

test("heal() leaves a connection alone that lost nothing in the black hole", async () => {
  const client = connect();
  await client.ping();
  proxy.blackHole();
  await proxy.heal();
  expect(await client.ping()).toBe("PONG");
});

test("blackHole() accepts new connections, and never answers them", async () => {
  proxy.blackHole();
  const client = connect();
  const lost = expect(client.set("key", "value")).rejects.toThrow();
  await until(
    "what the client sends is swallowed",
    () => proxy.connections === 1 && proxy.swallowedBytes > 0,
  );
  await proxy.heal();
  await lost;
  expect(await direct.exists("key")).toBe(0);
});

test("inside a black hole the server does not hear that a client has gone", async () => {
  const client = connect();
  await client.client("SETNAME", "unheard");
  proxy.blackHole();
  client.disconnect();
  await until("the client has gone", () => proxy.connections === 0);
  expect(await direct.client("LIST")).toContain("unheard");
  await proxy.heal();
  await until(
    "the server has no such client",
    async () => !String(await direct.client("LIST")).includes("unheard"),
  );
});
