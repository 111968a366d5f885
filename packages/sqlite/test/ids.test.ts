import { distinctIds } from "@bq/idempotency-conformance";
import { describe, expect, it } from "vitest";
import { openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

describe("ids", () => {
  it("every id is remembered, seen and forgotten without a touch to any other", async () => {
    const store = await openStore();
    for (const id of distinctIds) {
      await store.remember(id);
      expect(await store.seenMany(distinctIds)).toEqual(distinctIds.map((other) => other === id));
      expect(await store.seen(id)).toBe(true);
      await store.forget(id);
      expect(await store.seen(id)).toBe(false);
    }
  });

  it("every id goes through a batch in any company", async () => {
    const store = await openStore();
    const [odd, even] = [0, 1].map((rest) => distinctIds.filter((_, place) => place % 2 === rest));
    await store.rememberMany([...(odd ?? []), ...(odd ?? [])]);
    expect(await store.seenMany(odd ?? [])).toEqual((odd ?? []).map(() => true));
    expect(await store.seenMany(even ?? [])).toEqual((even ?? []).map(() => false));
  });

  it("every id can be claimed while all the others are claimed", async () => {
    const store = await openStore();
    for (const id of distinctIds) expect(await store.claim(id, 60_000)).toMatchObject({ status: "claimed" });
    for (const id of distinctIds)
      expect(await store.claim(id, 60_000)).toMatchObject({ status: "in-flight" });
  });

  it("an id that is safe to store is stored as it is, for an operator to find", async () => {
    const path = temporaryFile();
    const store = await openStore(path);
    await store.remember("order 4711 ✓");
    const rows = openDatabase(path).prepare("SELECT message_id FROM babelqueue_idempotency").pluck().all();
    expect(rows).toEqual(["order 4711 ✓"]);
  });

  it("a string is no list of ids", async () => {
    const store = await openStore();
    const list = "xyz" as unknown as string[];
    for (const call of [() => store.seenMany(list), () => store.rememberMany(list)]) {
      expect(call).toThrow('Ids must come as an array of strings, got "xyz"');
    }
    expect(await store.seenMany(["x", "xyz"])).toEqual([false, false]);
  });

  it.each([[""], [7], [null], [undefined], [{}]])("%j is refused as an id", async (id) => {
    const store = await openStore();
    const unusable = id as string;
    const calls = [
      () => store.seen(unusable),
      () => store.remember(unusable),
      () => store.forget(unusable),
      () => store.seenMany(["good", unusable]),
      () => store.rememberMany(["good", unusable]),
      () => store.claim(unusable, 1_000),
    ];
    for (const call of calls) expect(call).toThrow(TypeError);
    expect(await store.seen("good")).toBe(false);
  });
});
