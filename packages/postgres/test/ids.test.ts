import { distinctIds } from "@bq/idempotency-conformance";
import { expect, it } from "vitest";
import { freshName, openStore, plainClient } from "./support/database.ts";

it("ids stay apart, alone and in a batch, whatever they are made of", async () => {
  const store = await openStore();
  const half = distinctIds.filter((_, place) => place % 2 === 0);
  await store.rememberMany([...half, ...half]);
  expect(await store.seenMany(distinctIds)).toEqual(distinctIds.map((_, place) => place % 2 === 0));
  for (const id of half) await store.forget(id);
  expect(await store.seenMany(distinctIds)).toEqual(distinctIds.map(() => false));
  await Promise.all(distinctIds.map((id) => store.remember(id)));
  expect(await Promise.all(distinctIds.map((id) => store.seen(id)))).toEqual(distinctIds.map(() => true));
});

it("every id can be claimed while all the others are claimed", async () => {
  const store = await openStore();
  const first = await Promise.all(distinctIds.map((id) => store.claim(id, 60_000)));
  const second = await Promise.all(distinctIds.map((id) => store.claim(id, 60_000)));
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set(["claimed"]));
  expect(new Set(second.map(({ status }) => status))).toEqual(new Set(["in-flight"]));
});

it("an id that is safe to store is stored as it is, for an operator to find", async () => {
  const table = freshName();
  const store = await openStore({ table });
  await store.remember("order 4711 ✓");
  const sql = plainClient();
  expect(await sql`SELECT message_id FROM ${sql(table)}`.values()).toEqual([["order 4711 ✓"]]);
});

it("an id is a value, never SQL", async () => {
  const table = freshName();
  const store = await openStore({ table });
  const ids = [`'; DROP TABLE "${table}"; --`, "$1", "\\'; SELECT 1", `["a","b"]`, "{a,b}", "%s", "NULL"];
  await store.rememberMany(ids);
  for (const id of ids) await store.remember(id);
  expect(await store.seenMany(ids)).toEqual(ids.map(() => true));
  expect(await store.seenMany(["a", "b"])).toEqual([false, false]);
});

it("two batches that share ids in opposite orders never end in a deadlock", async () => {
  const store = await openStore({ ttlMs: 60_000, retries: 0 });
  const ids = Array.from({ length: 200 }, (_, place) => `shared-${place}`);
  const reversed = [...ids].reverse();
  const batches = Array.from({ length: 40 }, (_, turn) => store.rememberMany(turn % 2 ? ids : reversed));
  await expect(Promise.all(batches)).resolves.toHaveLength(40);
});
