import { wrap } from "@bq/idempotency-core";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, ownProxy, ownRedis, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

it("a server that restarts in the middle of a load loses no mark and marks nothing that did not run", {
  timeout: 60_000,
}, async () => {
  const server = await ownRedis({ persistent: true });
  const store = await RedisStore.connect(server.url, { commandTimeoutMs: 20_000 });
  onTestFinished(() => store.close());
  const ran: string[] = [];
  const failed: unknown[] = [];
  const handle = wrap(store, async (message: { meta: { id: string } }) => void ran.push(message.meta.id), {
    storeTimeoutMs: 30_000,
  });
  const ids = Array.from({ length: 400 }, (_, i) => `id-${i}`);
  const deliveries = ids.map((id, i) => async () => {
    if (i === 150) void server.restart();
    await handle({ meta: { id } }).catch((error: unknown) => failed.push(error));
  });
  const queue = deliveries.values();
  const consumer = async () => {
    for (const deliver of queue) await deliver();
  };
  await Promise.all([consumer(), consumer(), consumer(), consumer()]);
  for (const error of failed) expect(error).toMatchObject({ name: expect.stringMatching(/^Store/) });
  const marks = await store.seenMany(ids);
  expect(ids.filter((_, i) => marks[i])).toEqual(ids.filter((id) => ran.includes(id)));
  expect(new Set(ran).size, "nothing ran twice").toBe(ran.length);
});

it("a server that is gone fails an operation within commandTimeoutMs, and at once when it has been gone for long", async () => {
  const server = await ownRedis();
  const store = await RedisStore.connect(server.url, { commandTimeoutMs: 500 });
  onTestFinished(() => store.close());
  await store.remember("a");
  await server.kill();
  await expect(store.seen("a")).rejects.toMatchObject({ name: expect.stringMatching(/^Store/) });
  await expect
    .poll(() => store.seen("a").catch((error: Error) => error.message), { timeout: 10_000 })
    .toMatch(/has been out of reach for \d+ ms: connect ECONNREFUSED/);
  await server.restart();
  await expect.poll(() => store.seen("a").catch(() => undefined), { timeout: 20_000 }).toBe(false);
});

it("a connection that goes silent fails the delivery within the time limit, the handler does not run, and the store recovers", {
  timeout: 60_000,
}, async () => {
  const proxy = await ownProxy(sharedUrl);
  const store = await RedisStore.connect(proxy.url, { prefix: freshPrefix(), commandTimeoutMs: 400 });
  onTestFinished(() => store.close());
  let runs = 0;
  const handle = wrap(store, async (_: { meta: { id: string } }) => ++runs);
  proxy.blackHole();
  await expect(handle({ meta: { id: "a" } })).rejects.toMatchObject({
    name: "StoreTimeoutError",
    code: "BQ_STORE_TIMEOUT",
    timeoutMs: 400,
  });
  expect(runs).toBe(0);
  await proxy.heal();
  await expect.poll(() => handle({ meta: { id: "a" } }).catch(() => undefined), { timeout: 20_000 }).toBe(1);
  expect(await store.seen("a")).toBe(true);
});

it("a borrowed client that never answers fails the delivery within storeTimeoutMs, and the handler does not run", async () => {
  const proxy = await ownProxy(sharedUrl);
  const client = plainClient(proxy.url);
  const store = new RedisStore(client, { prefix: freshPrefix() });
  await store.seen("a");
  let runs = 0;
  const handle = wrap(store, () => ++runs, { storeTimeoutMs: 200 });
  proxy.blackHole();
  await expect(handle({ meta: { id: "a" } })).rejects.toMatchObject({
    code: "BQ_STORE_TIMEOUT",
    timeoutMs: 200,
  });
  expect(runs).toBe(0);
});

it("FLUSHALL forgets marks and claims, and a late commit says that its claim was lost", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  await store.remember("a");
  const claim = await take(store, "b");
  await client.flushall();
  expect(await store.seen("a")).toBe(false);
  expect(await store.renew(claim, 1_000)).toBe(false);
  expect(await store.commit(claim)).toBe(false);
  expect(await store.seen("b")).toBe(true);
});

it("an emptied script cache is filled again", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  for (let round = 0; round < 2; round++) {
    await client.script("FLUSH");
    const claim = await take(store, `id-${round}`);
    await client.script("FLUSH");
    expect(await store.renew(claim, 60_000)).toBe(true);
    await client.script("FLUSH");
    expect(await store.release(claim)).toBe(true);
    await client.script("FLUSH");
    await store.rememberMany([`id-${round}`]);
    await client.script("FLUSH");
    expect(await store.seenMany([`id-${round}`])).toEqual([true]);
  }
});

it("a claim survives an outage that is over before its lease", async () => {
  const proxy = await ownProxy(sharedUrl);
  const prefix = freshPrefix();
  const store = await RedisStore.connect(proxy.url, { prefix, commandTimeoutMs: 300 });
  onTestFinished(() => store.close());
  const other = new RedisStore(plainClient(sharedUrl), { prefix });
  const claim = await take(store, "a", 600_000);
  await proxy.cut();
  await expect(store.renew(claim, 600_000)).rejects.toMatchObject({ name: expect.stringMatching(/^Store/) });
  await proxy.heal();
  await expect.poll(() => store.renew(claim, 600_000).catch(() => undefined), { timeout: 20_000 }).toBe(true);
  expect((await other.claim("a", 1_000)).status).toBe("in-flight");
  expect(await store.commit(claim)).toBe(true);
});
