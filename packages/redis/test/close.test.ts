import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, ownProxy, plainClient, sharedUrl } from "./support/servers.ts";

it("close waits for the marks under way, and afterwards every operation says that the store is closed", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const store = await RedisStore.connect(proxy.url, { prefix });
  const claim = await store.claim("held", 60_000);
  proxy.delay(200);
  const marked = store.remember("a");
  const closed = store.close();
  await Promise.all([closed, store.close(), store[Symbol.asyncDispose]()]);
  await marked;
  expect(await new RedisStore(plainClient(sharedUrl), { prefix }).seen("a")).toBe(true);
  if (claim.status !== "claimed") throw new Error("unreachable");
  for (const operation of [
    () => store.seen("a"),
    () => store.seenMany(["a"]),
    () => store.remember("a"),
    () => store.rememberMany(["a"]),
    () => store.forget("a"),
    () => store.claim("a", 1_000),
    () => store.renew(claim.claim, 1_000),
    () => store.commit(claim.claim),
    () => store.release(claim.claim),
    () => store.check(),
  ]) {
    await expect(operation()).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_CLOSED" });
  }
});

it("close leaves a borrowed client open", async () => {
  const client = plainClient(sharedUrl);
  const store = new RedisStore(client);
  await store.close();
  expect(await client.ping()).toBe("PONG");
});

it("close does not wait for ever for a borrowed client that does, and the mark is written when the server is back", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const client = new Redis(proxy.url, { maxRetriesPerRequest: null });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client, { prefix });
  await store.seen("a");
  await proxy.cut();
  const marked = store.remember("a");
  await store.close();
  await proxy.heal();
  await marked;
  expect(await new RedisStore(plainClient(sharedUrl), { prefix }).seen("a")).toBe(true);
});

it("a store that is disposed of ends its own connection", async () => {
  const proxy = await ownProxy(sharedUrl);
  {
    await using store = await RedisStore.connect(proxy.url);
    await store.seen("a");
    expect(proxy.connections).toBe(1);
  }
  await expect.poll(() => proxy.connections).toBe(0);
});

it("many stores on one borrowed client add one listener of a kind", () => {
  const client = plainClient(sharedUrl);
  for (let i = 0; i < 20; i++) new RedisStore(client, { prefix: freshPrefix() });
  expect(client.listenerCount("close")).toBeLessThanOrEqual(2);
});
