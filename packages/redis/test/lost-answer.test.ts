import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { describe, expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { counting } from "./support/counting.ts";
import { freshPrefix, ownProxy, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

/** A store behind a faulty network, on a client that sends a command again when its connection was lost. */
async function storeBehindProxy(connect: (url: string) => Redis | Redis5) {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const client = connect(proxy.url);
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client, { prefix });
  const other = new RedisStore(plainClient(sharedUrl), { prefix });
  // The scripts are in the server's cache from here on: each call is one request with one answer.
  await store.release(await take(store, "warm-up"));
  return { store, other, proxy };
}

describe.each([
  ["6", (to: string) => new Redis(to)],
  ["5", (to: string) => new Redis5(to)],
] as const)("when the connection drops between request and answer, on ioredis %s", (_, connect) => {
  it("a claim that the client sends again is ours, not in flight elsewhere", async () => {
    const { store, other, proxy } = await storeBehindProxy(connect);
    const cut = proxy.cutBeforeReply();
    const claim = await take(store, "a");
    await cut;
    expect((await other.claim("a", 60_000)).status).toBe("in-flight");
    expect(await store.commit(claim)).toBe(true);
  });

  it("a commit that the client sends again was still ours", async () => {
    const { store, other, proxy } = await storeBehindProxy(connect);
    const claim = await take(store, "a");
    const cut = proxy.cutBeforeReply();
    const ours = await store.commit(claim);
    await cut;
    expect(ours).toBe(true);
    expect(await other.seen("a")).toBe(true);
    expect(await store.commit(claim), "a second commit, whose answer arrived").toBe(false);
  });

  it("a commit that finds another worker's mark after the lease is over answers false, though it was sent twice", async () => {
    const { store, other, proxy } = await storeBehindProxy(connect);
    const claim = await take(store, "a", 1);
    await expect.poll(async () => (await other.claim("a", 60_000)).status).toBe("claimed");
    await other.remember("a");
    const cut = proxy.cutBeforeReply();
    expect(await store.commit(claim)).toBe(false);
    await cut;
  });

  it("a release that the client sends again has dropped our claim", async () => {
    const { store, other, proxy } = await storeBehindProxy(connect);
    const claim = await take(store, "a");
    const cut = proxy.cutBeforeReply();
    expect(await store.release(claim)).toBe(true);
    await cut;
    expect((await other.claim("a", 60_000)).status).toBe("claimed");
  });

  it("a mark, a renewal and a batch are written", async () => {
    const { store, other, proxy } = await storeBehindProxy(connect);
    const claim = await take(store, "renewed", 60_000);
    for (const write of [
      () => store.remember("single"),
      () => store.rememberMany(["left", "right"]),
      () => store.renew(claim, 120_000),
    ]) {
      const cut = proxy.cutBeforeReply();
      await write();
      await cut;
    }
    expect(await other.seenMany(["single", "left", "right", "renewed"])).toEqual([true, true, true, false]);
    const result = await other.claim("renewed", 60_000);
    expect(result.status === "in-flight" && result.retryAfterMs).toBeGreaterThan(60_000);
  });
});

it("a commit that is repeated because its answer was lost was still ours", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  // This client does not send again: the caller gets the error, and tries again.
  const client = new Redis(proxy.url, { maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client, { prefix });
  const claim = await take(store, "a");
  const cut = proxy.cutBeforeReply();
  await expect(store.commit(claim)).rejects.toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
  await cut;
  expect(await store.commit(claim)).toBe(true);
});

it("a claim that failed here and was applied there is dropped again, and does not hold the id for its lease", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const client = new Redis(proxy.url, { commandTimeout: 1_000 });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client, { prefix });
  const looker = plainClient(sharedUrl);
  await store.release(await take(store, "warm-up"));
  proxy.delay(60_000);
  await expect(store.claim("a", 600_000)).rejects.toMatchObject({ name: "StoreError" });
  await proxy.heal();
  await expect.poll(() => looker.get(`${prefix}a`), { timeout: 10_000 }).toBe(null);
  const other = new RedisStore(looker, { prefix });
  await take(other, "a");
});

it("calls that went together are sent again together, and each still finds its own work done", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const connection = plainClient(proxy.url);
  connection.on("error", () => {});
  const client = counting(connection);
  const store = new RedisStore(client, { prefix });
  const ids = Array.from({ length: 20 }, (_, i) => `id-${i}`);
  const held = await Promise.all(ids.map((id) => take(store, `held-${id}`)));
  const cuts: Promise<void>[] = [];
  client.beforeSending = (command, args) => {
    // Only the group has more than one key.
    if (command === "evalsha" && Number(args[1]) > 1) cuts.push(proxy.cutBeforeReply());
  };
  const answers = await Promise.all([
    Promise.all(ids.map((id) => store.claim(id, 600_000))),
    Promise.all(held.map((claim, i) => (i % 2 ? store.commit(claim) : store.release(claim)))),
  ]);
  await Promise.all(cuts);
  expect(cuts.length).toBeGreaterThan(0);
  expect(answers[0].map(({ status }) => status)).toEqual(ids.map(() => "claimed"));
  expect(answers[1]).toEqual(held.map(() => true));
  const other = new RedisStore(plainClient(sharedUrl), { prefix });
  const later = await Promise.all(ids.map((id) => other.claim(id, 1_000)));
  expect(later.map(({ status }) => status)).toEqual(ids.map(() => "in-flight"));
});

it("claims that went together, failed here and were applied there are all dropped again", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const client = new Redis(proxy.url, { commandTimeout: 1_000 });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client, { prefix });
  const looker = plainClient(sharedUrl);
  const ids = Array.from({ length: 20 }, (_, i) => `id-${i}`);
  // The scripts are in the server's cache from here on.
  const warm = await Promise.all(ids.map((id) => take(store, id)));
  await Promise.all(warm.map((claim) => store.release(claim)));
  await store.release(await take(store, "warm-up"));
  proxy.delay(60_000);
  const outcomes = Promise.allSettled(ids.map((id) => store.claim(id, 600_000)));
  const keys = ids.map((id) => `${prefix}${id}`);
  await expect.poll(() => looker.exists(...keys), { timeout: 10_000 }).toBe(ids.length);
  expect(await outcomes).toMatchObject(ids.map((id) => ({ status: "rejected", reason: { id } })));
  await proxy.heal();
  await expect.poll(() => looker.exists(...keys), { timeout: 10_000 }).toBe(0);
});
