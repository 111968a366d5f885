import { storageKey } from "@bq/idempotency-core";
import type { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, ownRedis, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

it("a mark is the value 1 under the prefix and the id, and lives as long as its TTL", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  await new RedisStore(client, { prefix }).remember("for-ever");
  await new RedisStore(client, { prefix, ttlMs: 3_600_000 }).rememberMany(["an-hour", "an hour"]);
  expect(await client.mget(`${prefix}for-ever`, `${prefix}an-hour`, `${prefix}an hour`)).toEqual([
    "1",
    "1",
    "1",
  ]);
  expect(await client.pttl(`${prefix}for-ever`)).toBe(-1);
  for (const key of [`${prefix}an-hour`, `${prefix}an hour`]) {
    const leftMs = await client.pttl(key);
    expect(leftMs).toBeLessThanOrEqual(3_600_000);
    expect(leftMs).toBeGreaterThan(3_500_000);
  }
});

it("a claim is its token behind claim:, and expires with the lease", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  const { token } = await take(new RedisStore(client, { prefix }), "a", 600_000);
  expect(await client.get(`${prefix}a`)).toBe(`claim:${token}`);
  const leftMs = await client.pttl(`${prefix}a`);
  expect(leftMs).toBeLessThanOrEqual(600_000);
  expect(leftMs).toBeGreaterThan(500_000);
});

it("an id that Redis clients would garble is stored as its hash", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  await new RedisStore(client, { prefix }).remember("\ud800");
  expect(await client.get(prefix + storageKey("\ud800"))).toBe("1");
});

it("with the default prefix no key of the Go or PHP store is touched, whatever the id", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  await store.remember("a");
  await store.rememberMany(["bq:idemp:a", ":a"]);
  await take(store, "b");
  expect((await client.keys("*")).every((key) => key.startsWith("bq:idempotency:"))).toBe(true);
  await client.mset("bq:idemp:c", "1", "bq:idem:c", "2");
  expect(await store.seenMany(["c", "bq:idemp:c", "bq:idem:c"])).toEqual([false, false, false]);
});

it("every operation that is called alone is one command on one key", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client, { ttlMs: 60_000 });
  const everything = async (id: string) => {
    await store.release(await take(store, id));
    const claim = await take(store, id);
    await store.claim(id, 1_000);
    await store.renew(claim, 60_000);
    await store.commit(claim);
    await store.claim(id, 1_000);
    await store.seen(id);
    await store.seenMany([id, "other", id]);
    await store.remember(id);
    await store.rememberMany([id, "another"]);
    await store.forget(id);
  };
  // The first time brings the scripts.
  await everything("a");
  const sent = await commandsSentBy(client, () => everything("b"));
  expect(sent).toEqual([
    ...["evalsha", "evalsha", "evalsha", "evalsha", "evalsha", "set", "evalsha"],
    ...["getex", "evalsha", "set", "evalsha", "del"],
  ]);
});

/** The names of the commands that clients send meanwhile; what scripts call inside the server is left out. */
async function commandsSentBy(client: Redis, work: () => Promise<void>): Promise<string[]> {
  const names: string[] = [];
  const monitor = await client.monitor();
  onTestFinished(() => monitor.disconnect());
  const ended = new Promise<void>((resolve) => {
    monitor.on("monitor", (_time: string, [name]: string[], source: string) => {
      if (name === "echo") resolve();
      else if (name !== undefined && source !== "lua") names.push(name);
    });
  });
  await work();
  await client.echo("end");
  await ended;
  return names;
}

it("stores with different prefixes share nothing: two services process one fan-out message each", async () => {
  const [billing, shipping] = [freshPrefix(), freshPrefix()];
  const client = plainClient(sharedUrl);
  const stores = [new RedisStore(client, { prefix: billing }), new RedisStore(client, { prefix: shipping })];
  for (const store of stores) {
    expect(await store.seen("order-1")).toBe(false);
    await store.remember("order-1");
  }
});

it("the keyPrefix of a borrowed client is a second namespace", async () => {
  const prefix = freshPrefix();
  const client = new Redis5(sharedUrl, { keyPrefix: "owner:" });
  onTestFinished(() => client.disconnect());
  const looker = plainClient(sharedUrl);
  const store = new RedisStore(client, { prefix });
  await store.rememberMany(["a"]);
  await take(store, "b");
  expect(await looker.exists(`owner:${prefix}a`, `owner:${prefix}b`)).toBe(2);
  expect(await new RedisStore(looker, { prefix }).seen("a")).toBe(false);
});
