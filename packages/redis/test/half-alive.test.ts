import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, ownCluster, ownRedis, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

it("out of memory: reads work, and writes say that maxmemory is reached and mark nothing", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  await store.remember("old");
  const claim = await take(store, "held");
  await client.config("SET", "maxmemory", "1");
  const outOfMemory = { name: "StoreError", code: "BQ_STORE_FAILED", message: /maxmemory/ };
  await expect(store.remember("new")).rejects.toMatchObject(outOfMemory);
  await expect(store.rememberMany(["new", "newer"])).rejects.toMatchObject(outOfMemory);
  await expect(store.claim("new", 1_000)).rejects.toMatchObject(outOfMemory);
  await expect(store.commit(claim)).rejects.toMatchObject(outOfMemory);
  expect(await store.seenMany(["old", "new", "newer", "held"])).toEqual([true, false, false, false]);
  expect(await store.renew(claim, 60_000)).toBe(true);
  await client.config("SET", "maxmemory", "0");
  expect(await store.commit(claim)).toBe(true);
});

it("a user without the right to run scripts is told which rights the store needs", async () => {
  const server = await ownRedis();
  const admin = plainClient(server.url);
  await admin.call("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-@scripting");
  const store = new RedisStore(plainClient(server.url.replace("redis://", "redis://app:secret@")));
  await store.remember("a");
  expect(await store.seen("a")).toBe(true);
  const forbidden = { name: "StoreError", message: /\+eval \+evalsha/ };
  await expect(store.claim("b", 1_000)).rejects.toMatchObject(forbidden);
  await expect(store.seenMany(["a"])).rejects.toMatchObject(forbidden);
  await expect(store.rememberMany(["b"])).rejects.toMatchObject(forbidden);
});

it("the rights that the documentation names are enough", async () => {
  const server = await ownRedis();
  const admin = plainClient(server.url);
  const rights = ["+getex", "+set", "+del", "+eval", "+evalsha", "+get", "+type", "+pttl", "+pexpire"];
  await admin.call("ACL", "SETUSER", "app", "on", ">secret", "~bq:idempotency:*", "+info", ...rights);
  const store = await RedisStore.connect(server.url.replace("redis://", "redis://app:secret@"), {
    ttlMs: 60_000,
  });
  onTestFinished(() => store.close());
  const claim = await take(store, "a");
  expect(await store.renew(claim, 1_000)).toBe(true);
  expect((await store.claim("a", 1_000)).status).toBe("in-flight");
  expect(await store.commit(claim)).toBe(true);
  expect(await store.release(await take(store, "b"))).toBe(true);
  await store.rememberMany(["c", "d"]);
  expect(await store.seenMany(["c", "d", "e"])).toEqual([true, true, false]);
  await store.forget("c");
  expect(await store.seen("c")).toBe(false);
});

it("a key of another type is refused by every operation but forget, and left as it is", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  const store = new RedisStore(client, { prefix });
  await client.rpush(`${prefix}a`, "belongs to somebody else");
  const claim = { id: "a", token: "t" };
  for (const operation of [
    () => store.seen("a"),
    () => store.seenMany(["b", "a"]),
    () => store.remember("a"),
    () => store.rememberMany(["b", "a"]),
    () => store.claim("a", 1_000),
    () => store.renew(claim, 1_000),
    () => store.commit(claim),
    () => store.release(claim),
  ]) {
    await expect(operation()).rejects.toMatchObject({
      name: "StoreError",
      code: "BQ_STORE_SCHEMA",
      message: /another type/,
      cause: { message: /WRONGTYPE/ },
    });
  }
  expect(await client.lrange(`${prefix}a`, 0, -1)).toEqual(["belongs to somebody else"]);
  expect(await store.seen("b"), "the neighbour in the refused batch").toBe(false);
});

it.each(["2", "0", "", "true", "{}", "Claim:x", "1 "])(
  "the unknown value %j is never read as a mark or a claim",
  async (value) => {
    const prefix = freshPrefix();
    const client = plainClient(sharedUrl);
    const store = new RedisStore(client, { prefix });
    await client.set(`${prefix}a`, value);
    const unknown = { name: "StoreError", code: "BQ_STORE_SCHEMA", message: /neither a mark nor a claim/ };
    await expect(store.seen("a")).rejects.toMatchObject(unknown);
    await expect(store.seenMany(["b", "a"])).rejects.toMatchObject(unknown);
    await expect(store.claim("a", 1_000)).rejects.toMatchObject(unknown);
    await store.remember("a");
    expect(await store.seen("a")).toBe(true);
  },
);

it("a claim without a lease, which would never lapse, is an unknown value", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  await client.set(`${prefix}a`, "claim:for-ever");
  await expect(new RedisStore(client, { prefix }).claim("a", 1_000)).rejects.toMatchObject({
    code: "BQ_STORE_SCHEMA",
  });
});

it("a replica is not asked whether an id was seen, for it may not know yet", {
  timeout: 60_000,
}, async () => {
  const primary = await ownRedis();
  const replica = await ownRedis({ args: ["--replicaof", primary.host, String(primary.port)] });
  const client = plainClient(replica.url);
  const store = new RedisStore(client);
  await expect
    .poll(async () => /master_link_status:(\w+)/.exec(await client.info("replication"))?.[1], {
      timeout: 20_000,
    })
    .toBe("up");
  const readOnly = { name: "StoreError", message: /is a replica/ };
  await expect(store.seen("a")).rejects.toMatchObject(readOnly);
  await expect(store.seenMany(["a"])).rejects.toMatchObject(readOnly);
  for (const outcome of await Promise.allSettled(["a", "b", "c", "d"].map((id) => store.seen(id)))) {
    expect(outcome).toMatchObject({ status: "rejected", reason: readOnly });
  }
  await expect(store.claim("a", 1_000)).rejects.toMatchObject(readOnly);
  await expect(store.remember("a")).rejects.toMatchObject(readOnly);
  expect((await store.check()).map(({ code }) => code)).toContain("replica");
  await client.config("SET", "replica-serve-stale-data", "no");
  await primary.stop();
  await expect
    .poll(() => store.seen("a").catch((error: Error) => error.message), { timeout: 20_000 })
    .toMatch(/is a replica|has lost its primary/);
});

it("a cluster that lost a primary says so for its ids; those of the others work on", {
  timeout: 60_000,
}, async () => {
  const cluster = await ownCluster();
  const store = await RedisStore.connect(cluster.nodes);
  onTestFinished(() => store.close());
  const ids = Array.from({ length: 30 }, (_, i) => `id-${i}`);
  await store.rememberMany(ids);
  // One node of the cluster behind a client for one server reaches only its part.
  const [first] = cluster.masters;
  const single = new Redis(first?.url ?? "");
  onTestFinished(() => single.disconnect());
  const outcomes = await Promise.allSettled(ids.map((id) => new RedisStore(single).seen(id)));
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ name: "StoreError", message: /one node of a cluster/ });
  // Slots without a server.
  const bare = plainClient(first?.url ?? "");
  await bare.call("CLUSTER", "DELSLOTSRANGE", "0", "5460");
  const failure = await store.rememberMany(ids).catch((error: Error) => error);
  expect(failure).toMatchObject({
    name: "StoreError",
    message: /ids could not be marked.*Repeating the call is safe/s,
  });
});
