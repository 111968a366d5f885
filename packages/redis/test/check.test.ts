import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { nodeUrl, ownRedis, plainClient, sharedNodes } from "./support/servers.ts";

async function findings(store: RedisStore): Promise<Record<string, string>> {
  const found = await store.check();
  for (const { message } of found) expect(message).toMatch(/^[A-Z0-9].*\.$/s);
  return Object.fromEntries(found.map(({ code, severity }) => [code, severity]));
}

it("a server that keeps every acknowledged mark is found fault with in nothing", async () => {
  const server = await ownRedis({ persistent: true });
  expect(await findings(new RedisStore(plainClient(server.url)))).toEqual({});
});

it("missing or partial persistence is found", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  expect(await findings(store)).toEqual({ persistence: "error" });
  await client.config("SET", "save", "3600 1");
  expect(await findings(store)).toEqual({ persistence: "warning" });
  await client.config("SET", "appendonly", "yes", "appendfsync", "everysec");
  expect(await findings(store)).toEqual({ appendfsync: "info" });
  await client.config("SET", "appendfsync", "no");
  expect(await findings(store)).toEqual({ appendfsync: "warning" });
});

it("a maxmemory-policy that evicts marks or claims is found", async () => {
  const server = await ownRedis({ persistent: true, args: ["--maxmemory", "100mb"] });
  const client = plainClient(server.url);
  const [forEver, expiring] = [new RedisStore(client), new RedisStore(client, { ttlMs: 60_000 })];
  expect(await findings(expiring)).toEqual({});
  await client.config("SET", "maxmemory-policy", "volatile-lru");
  expect(await findings(forEver), "only claims expire").toEqual({ "maxmemory-policy": "warning" });
  expect(await findings(expiring)).toEqual({ "maxmemory-policy": "error" });
  await client.config("SET", "maxmemory-policy", "allkeys-lfu");
  expect(await findings(forEver)).toEqual({ "maxmemory-policy": "error" });
  await client.config("SET", "maxmemory", "0");
  expect(await findings(forEver), "no limit yet").toEqual({ "maxmemory-policy": "warning" });
});

it("a server that forbids CONFIG, INFO or scripts gives findings, not errors", async () => {
  const server = await ownRedis({ persistent: true });
  const admin = plainClient(server.url);
  await admin.call("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-config", "-@scripting");
  const client = plainClient(server.url.replace("redis://", "redis://app:secret@"));
  const store = new RedisStore(client);
  expect(await findings(store)).toEqual({ "hidden-settings": "info", "scripts-forbidden": "error" });
  await admin.call("ACL", "SETUSER", "app", "-info");
  expect(await findings(store)).toEqual({ "hidden-settings": "info", "scripts-forbidden": "error" });
});

it("a client's own key prefix is told, and settings are read in whatever shape it maps replies to", async () => {
  const server = await ownRedis();
  const client = new Redis(server.url, { keyPrefix: "owner:", replyMapping: "resp3" });
  onTestFinished(() => client.disconnect());
  expect(await findings(new RedisStore(client))).toEqual({ "key-prefix": "info", persistence: "error" });
});

it("on a cluster every primary is checked, and named", async () => {
  const store = await RedisStore.connect(sharedNodes);
  onTestFinished(() => store.close());
  const found = await store.check();
  for (const { port } of sharedNodes) {
    expect(found.find(({ message }) => message.startsWith(`127.0.0.1:${port}: `))).toMatchObject({
      code: "persistence",
    });
  }
  const single = new RedisStore(plainClient(nodeUrl()));
  expect(await findings(single)).toMatchObject({ "cluster-client": "error" });
});

it("a server that is gone makes check fail with a StoreError", async () => {
  const server = await ownRedis();
  const store = await RedisStore.connect(server.url, { commandTimeoutMs: 300 });
  onTestFinished(() => store.close());
  await server.kill();
  await expect(store.check()).rejects.toMatchObject({ name: expect.stringMatching(/^Store/) });
});
