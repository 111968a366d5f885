import { expect, it, onTestFinished, vi } from "vitest";
import { freshPrefix, sharedNodes, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

// What a user has who installed ioredis 5: the store's own connections are made with that version.
vi.mock("ioredis", () => import("ioredis5"));
const { RedisStore } = await import("../src/index.ts");

it.each([
  ["one server", sharedUrl],
  ["a cluster", sharedNodes],
])("with ioredis 5, connect to %s works and leaves nothing open", async (_, target) => {
  const store = await RedisStore.connect(target, { prefix: freshPrefix(), ttlMs: 60_000 });
  onTestFinished(() => store.close());
  await store.rememberMany(["a", "b"]);
  expect(await store.seenMany(["a", "b", "c"])).toEqual([true, true, false]);
  expect(await store.commit(await take(store, "d"))).toBe(true);
});

it("with ioredis 5, a server that cannot be reached or entered fails connect with the reason", async () => {
  await expect(RedisStore.connect("redis://127.0.0.1:1")).rejects.toThrow(
    /cannot be reached: connect ECONNREFUSED/,
  );
  await expect(RedisStore.connect([{ host: "127.0.0.1", port: 1 }])).rejects.toMatchObject({
    name: "StoreError",
  });
  await expect(RedisStore.connect(sharedUrl.replace("redis://", "redis://nobody:wrong@"))).rejects.toThrow(
    /WRONGPASS/,
  );
});
