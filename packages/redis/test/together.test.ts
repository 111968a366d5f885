import { AsyncLocalStorage } from "node:async_hooks";
import type { Claim } from "@bq/idempotency-core";
import fc from "fast-check";
import { Cluster } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { type RedisClient, RedisStore } from "../src/index.ts";
import { counting } from "./support/counting.ts";
import { freshPrefix, ownProxy, ownRedis, plainClient, sharedNodes, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

const many = Array.from({ length: 100 }, (_, i) => `id-${i}`);

it("calls that arrive while others are under way are one command, and a call alone is one of its own", async () => {
  const client = counting(plainClient(sharedUrl));
  const store = new RedisStore(client, { prefix: freshPrefix() });
  await store.seen("alone");
  expect(client.sent.splice(0)).toEqual(["getex"]);
  await Promise.all(many.map((id) => store.seen(id)));
  expect(client.sent.splice(0).length).toBeLessThanOrEqual(8);
  await Promise.all(many.map((id) => store.remember(id)));
  expect(client.sent.length).toBeLessThanOrEqual(8);
  expect(await Promise.all(many.map((id) => store.seen(id)))).toEqual(many.map(() => true));
});

it("on a cluster that is so where a hash tag keeps all keys in one slot, and elsewhere each call goes alone", async () => {
  const cluster = new Cluster(sharedNodes);
  onTestFinished(() => cluster.disconnect());
  const client = counting(cluster as unknown as RedisClient);
  for (const [prefix, mostCommands] of [
    [`{${freshPrefix()}}`, 8],
    [freshPrefix(), many.length],
  ] as const) {
    const store = new RedisStore(client, { prefix });
    await Promise.all(many.map((id) => store.remember(id)));
    expect(client.sent.splice(0).length).toBeLessThanOrEqual(mostCommands);
    expect(await Promise.all([...many, "absent"].map((id) => store.seen(id)))).toEqual([
      ...many.map(() => true),
      false,
    ]);
    client.sent.length = 0;
  }
});

const ids = ["a", "b", "\ud800", "é"];
const operation = fc.oneof(
  fc.record({
    do: fc.constantFrom("seen" as const, "remember" as const, "forget" as const, "claim" as const),
    id: fc.constantFrom(...ids),
  }),
  fc.record({
    do: fc.constantFrom("renew" as const, "commit" as const, "release" as const),
    nth: fc.nat(),
  }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** What one operation answers, by a plain Map from id to `"marked"` or the claim that holds it. */
function expected(model: Map<string, "marked" | Claim>, step: Operation, id: string, claim?: Claim): unknown {
  const before = model.get(id);
  const ours = claim !== undefined && before === claim;
  switch (step.do) {
    case "seen":
      return before === "marked";
    case "remember":
      model.set(id, "marked");
      return undefined;
    case "forget":
      model.delete(id);
      return undefined;
    case "claim":
      return before === undefined ? "claimed" : before === "marked" ? "processed" : "in-flight";
    case "renew":
      return ours;
    case "commit":
      model.set(id, "marked");
      return ours;
    case "release":
      if (ours) model.delete(id);
      return ours;
  }
}

it("calls that are made together answer as if they had been made one after another", async () => {
  const client = plainClient(sharedUrl);
  // A script that the server does not have yet is sent twice, and calls that were made later may then come before it.
  const warmUp = new RedisStore(client, { prefix: freshPrefix() });
  for (const id of ids) {
    const claim = await take(warmUp, id);
    await warmUp.renew(claim, 1_000);
    await warmUp.release(claim);
  }
  await Promise.all(many.map((id) => warmUp.seen(id)));
  let grouped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(operation, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
      fc.option(fc.constant(600_000), { nil: undefined }),
      async (bursts, ttlMs) => {
        const store = new RedisStore(client, { prefix: freshPrefix(), ttlMs });
        const model = new Map<string, "marked" | Claim>();
        const claims: Claim[] = [];
        for (const burst of bursts) {
          if (burst.length > 6) grouped++;
          const known = [...claims];
          const started = burst.map((step) => {
            const claim = "nth" in step ? known[step.nth % known.length] : undefined;
            const id = "id" in step ? step.id : (claim?.id ?? "");
            if (step.do === "claim") return { step, id, claim, answer: store.claim(id, 600_000) };
            if ("id" in step) return { step, id, claim, answer: store[step.do](id) };
            if (claim === undefined) return undefined;
            const answer = step.do === "renew" ? store.renew(claim, 600_000) : store[step.do](claim);
            return { step, id, claim, answer };
          });
          for (const [n, call] of started.entries()) {
            if (call === undefined) continue;
            const { step, id, claim } = call;
            const answer = await call.answer;
            const result = typeof answer === "object" ? answer.status : answer;
            expect(result, `${step.do} ${n} of ${started.length}`).toBe(expected(model, step, id, claim));
            if (typeof answer !== "object" || answer.status !== "claimed") continue;
            claims.push(answer.claim);
            model.set(id, answer.claim);
          }
        }
      },
    ),
    { numRuns: 150 },
  );
  expect(grouped).toBeGreaterThan(50);
});

it("a key of another type, or with an unknown value, fails its own calls and no others", async () => {
  const prefix = freshPrefix();
  const client = plainClient(sharedUrl);
  const store = new RedisStore(client, { prefix });
  await client.rpush(`${prefix}list`, "belongs to somebody else");
  await client.set(`${prefix}unknown`, "2");
  const lease = 60_000;
  const [renewed, committed, released] = [
    await take(store, "renewed"),
    await take(store, "committed"),
    await take(store, "released"),
  ];
  const foreign = { id: "list", token: "t" };
  const good = [
    [store.seen("free"), false],
    [store.remember("good"), undefined],
    [store.renew(renewed, lease), true],
  ] as [Promise<unknown>, unknown][];
  const bad = ["list", "unknown"].flatMap((id) => [store.seen(id), store.claim(id, lease)]);
  bad.push(store.renew(foreign, lease), store.commit(foreign), store.release(foreign));
  good.push(
    [store.commit(committed), true],
    [store.release(released), true],
    [store.seen("good"), true],
    [store.forget("list-is-dropped-only-by-its-name"), undefined],
  );
  const outcomes = await Promise.allSettled([...bad, store.remember("list")]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: "BQ_STORE_SCHEMA", id: expect.stringMatching(/^(list|unknown)$/) },
    });
  }
  for (const [answer, value] of good) expect(await answer).toBe(value);
  expect(await client.lrange(`${prefix}list`, 0, -1)).toEqual(["belongs to somebody else"]);
});

it("where the user may not touch a key, or may not run scripts, only what needs the right fails", async () => {
  const server = await ownRedis();
  const admin = plainClient(server.url);
  const rights = ["+@all", "resetkeys", "~bq:idempotency:id-*"];
  await admin.call("ACL", "SETUSER", "app", "on", ">secret", ...rights);
  const store = new RedisStore(plainClient(server.url.replace("redis://", "redis://app:secret@")));
  const forbidden = {
    status: "rejected",
    reason: { id: "forbidden", message: expect.stringMatching(/lacks a right/) },
  };
  const round = () =>
    Promise.allSettled(
      [...many.slice(0, 50), "forbidden", ...many.slice(50)].map((id) => store.remember(id)),
    );
  const fine = { status: "fulfilled", value: undefined };
  const wanted = [...Array(50).fill(fine), forbidden, ...Array(50).fill(fine)];
  expect(await round()).toMatchObject(wanted);
  await admin.call("ACL", "SETUSER", "app", "-@scripting");
  expect(await round()).toMatchObject(wanted);
});

it("out of memory, every call says so for itself and reads go on", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  await store.remember("old");
  await client.config("SET", "maxmemory", "1");
  const calls = many.map((id) =>
    Promise.allSettled([store.remember(id), store.seen("old"), store.claim(`${id}!`, 9)]),
  );
  for (const [i, [marked, seen, claimed]] of (await Promise.all(calls)).entries()) {
    expect(seen).toEqual({ status: "fulfilled", value: true });
    expect(marked).toMatchObject({ reason: { id: many[i], message: /maxmemory/ } });
    expect(claimed).toMatchObject({ reason: { id: `${many[i]}!`, message: /maxmemory/ } });
  }
});

it("each caller keeps its async context", async () => {
  const store = new RedisStore(plainClient(sharedUrl), { prefix: freshPrefix() });
  const context = new AsyncLocalStorage<string>();
  const contexts = await Promise.all(
    many.map((id) =>
      context.run(id, async () => {
        await store.remember(id);
        return context.getStore();
      }),
    ),
  );
  expect(contexts).toEqual(many);
});

it("close waits for every call that was accepted, also for those that were not sent yet", async () => {
  const prefix = freshPrefix();
  const proxy = await ownProxy(sharedUrl);
  const store = await RedisStore.connect(proxy.url, { prefix, commandTimeoutMs: 30_000 });
  await store.remember("warm-up");
  proxy.delay(100);
  const ids = Array.from({ length: 1_000 }, (_, i) => `id-${i}`);
  const marked = Promise.all(ids.map((id) => store.remember(id)));
  await Promise.all([store.close(), marked]);
  expect(await new RedisStore(plainClient(sharedUrl), { prefix }).seenMany(ids)).toEqual(ids.map(() => true));
});

it("a server that does not answer fails every call within the time limit, each with its own id", async () => {
  const proxy = await ownProxy(sharedUrl);
  const store = await RedisStore.connect(proxy.url, { prefix: freshPrefix(), commandTimeoutMs: 1_000 });
  onTestFinished(() => store.close());
  proxy.blackHole();
  const outcomes = await Promise.allSettled(many.map((id) => store.seen(id)));
  expect(outcomes).toMatchObject(
    many.map((id) => ({ status: "rejected", reason: { code: "BQ_STORE_TIMEOUT", id, timeoutMs: 1_000 } })),
  );
});
