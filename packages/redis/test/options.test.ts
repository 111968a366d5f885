import { Cluster } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, plainClient, sharedNodes, sharedUrl } from "./support/servers.ts";

it.each([
  [{ prefix: "" }, TypeError, /prefix must not be empty/],
  [{ prefix: "a\ud800" }, TypeError, /prefix must be well-formed/],
  [{ prefix: 1 }, TypeError, /prefix must be a string, got 1/],
  [{ ttlMs: 0 }, RangeError, /ttlMs .*got 0/],
  [{ ttlMs: -1 }, RangeError, /ttlMs .*got -1/],
  [{ ttlMs: Number.NaN }, RangeError, /ttlMs .*got NaN/],
  [{ ttlMs: "1d" }, TypeError, /ttlMs .*got "1d"/],
  [{ commandTimeoutMs: 1 }, TypeError, /unknown option "commandTimeoutMs"/],
  ["prefix:", TypeError, /options must be an object/],
] as const)("the options %j are refused by name and value", (options, kind, message) => {
  const build = () => new RedisStore(plainClient(sharedUrl), options as never);
  expect(build).toThrow(kind);
  expect(build).toThrow(message);
});

it.each([
  ["localhost:6379", undefined, /needs an URL such as redis/],
  ["http://user:secret@host", undefined, /starts with http:\/\/host/],
  [[], undefined, /list of at least one node/],
  [undefined, undefined, /list of at least one node/],
  [["http://host"], undefined, /needs an URL/],
  ["redis://localhost/orders", undefined, /the number of a database, .* got "orders"/],
  ["redis://localhost/?db=one", undefined, /the number of a database, .* got "one"/],
  ["redis://localhost", { commandTimeoutMs: 0 }, /commandTimeoutMs .*got 0/],
  ["redis://localhost", { connectTimeoutMs: Number.POSITIVE_INFINITY }, /connectTimeoutMs .*got Infinity/],
] as const)("connecting to %j with %j is refused", async (target, options, message) => {
  await expect(RedisStore.connect(target as never, options)).rejects.toThrow(message);
  await expect(RedisStore.connect(target as never, options)).rejects.not.toThrow(/secret/);
});

it.each([[undefined], [{}], ["redis://localhost"]])("%j is no client", (client) => {
  expect(() => new RedisStore(client as never)).toThrow(/must be an ioredis Redis or Cluster/);
});

it("a cluster client whose options keep it from reaching all slots is refused; with one of the two it works", async () => {
  const clusterWith = (options: { enableAutoPipelining?: true; redisOptions?: { stringNumbers: true } }) => {
    const client = new Cluster(sharedNodes, options);
    onTestFinished(() => client.disconnect());
    return client;
  };
  const redisOptions = { stringNumbers: true } as const;
  expect(() => new RedisStore(clusterWith({ enableAutoPipelining: true, redisOptions }))).toThrow(
    /enableAutoPipelining and redisOptions.stringNumbers.*Leave out one/,
  );
  const ids = Array.from({ length: 60 }, (_, i) => `id-${i}`);
  for (const options of [{ redisOptions }, { enableAutoPipelining: true }] as const) {
    const store = new RedisStore(clusterWith(options), { prefix: freshPrefix() });
    await Promise.all(ids.map((id) => store.remember(id)));
    expect(await store.seenMany(ids)).toEqual(ids.map(() => true));
  }
});

/** The shared server's URL, with the number of one of its databases. */
function databaseUrl(database: number): string {
  return Object.assign(new URL(sharedUrl), { pathname: `/${database}` }).href;
}

it("the path of the URL chooses the database, and one that the server does not have fails connect", async () => {
  const prefix = freshPrefix();
  const store = await RedisStore.connect(databaseUrl(2), { prefix });
  onTestFinished(() => store.close());
  await store.remember("id");
  const client = plainClient(databaseUrl(2));
  expect(await client.get(`${prefix}id`)).toBe("1");
  expect(await plainClient(sharedUrl).get(`${prefix}id`)).toBe(null);
  await expect(RedisStore.connect(databaseUrl(99_999))).rejects.toMatchObject({
    name: "StoreError",
    message: expect.stringContaining("DB index is out of range"),
  });
});

it("a server that cannot be reached fails connect with a StoreError that says why, and nothing is left running", async () => {
  await expect(RedisStore.connect("redis://127.0.0.1:1")).rejects.toMatchObject({
    name: "StoreError",
    operation: "connect",
    message: expect.stringMatching(/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/),
  });
  await expect(RedisStore.connect([{ host: "127.0.0.1", port: 1 }])).rejects.toMatchObject({
    name: "StoreError",
  });
  const wrongUser = sharedUrl.replace("redis://", "redis://nobody:wrong@");
  await expect(RedisStore.connect(wrongUser)).rejects.toThrow(/WRONGPASS/);
  await expect(RedisStore.connect([sharedUrl])).rejects.toThrow(/cluster support disabled/);
});
