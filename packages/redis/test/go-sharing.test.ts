import { expect, it } from "vitest";
import { RedisStore } from "../src/index.ts";
import { ownRedis, plainClient } from "./support/servers.ts";

/** What the Go store sends for its `Remember`, `Seen` and `Forget`. */
async function goPeer() {
  const server = await ownRedis();
  const client = plainClient(server.url);
  return {
    store: new RedisStore(client, { prefix: "bq:idemp:", ttlMs: 60_000 }),
    client,
    remember: (id: string) => client.call("SET", `bq:idemp:${id}`, "1", "PX", "60000", "NX"),
    seen: async (id: string) => (await client.call("EXISTS", `bq:idemp:${id}`)) === 1,
    forget: (id: string) => client.call("DEL", `bq:idemp:${id}`),
  };
}

it("with its prefix, marks that Go wrote are seen here, and dropped by its forget", async () => {
  const go = await goPeer();
  await go.remember("a");
  expect(await go.store.seen("a")).toBe(true);
  expect(await go.store.seenMany(["b", "a"])).toEqual([false, true]);
  expect(await go.store.claim("a", 1_000)).toEqual({ status: "processed" });
  await go.forget("a");
  expect(await go.store.seen("a")).toBe(false);
});

it("with its prefix, marks that were written here are seen by Go, which does not overwrite them", async () => {
  const go = await goPeer();
  await go.store.remember("a");
  await go.store.rememberMany(["b", "c"]);
  for (const id of ["a", "b", "c"]) expect(await go.seen(id)).toBe(true);
  expect(await go.remember("a")).toBe(null);
  await go.store.forget("a");
  expect(await go.seen("a")).toBe(false);
});

it("Go takes a claim for a mark: claims do not belong on its prefix", async () => {
  const go = await goPeer();
  await go.store.claim("a", 60_000);
  expect(await go.seen("a")).toBe(true);
});

it("a mark of the PHP store is no mark here, and no guess is made", async () => {
  const go = await goPeer();
  await go.client.set("bq:idemp:php", "2");
  await expect(go.store.seen("php")).rejects.toMatchObject({ code: "BQ_STORE_SCHEMA" });
});
