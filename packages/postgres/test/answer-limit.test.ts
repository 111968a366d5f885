import { describe, expect, it } from "vitest";
import { answerLimitMs } from "../src/answer-limit.ts";
import { openStore, ownProxy } from "./support/database.ts";

describe("a transaction whose server does not answer", () => {
  it("before the work is a timeout, the work does not run, and the pool's only place is free again", async () => {
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url, maxConnections: 1, lockTimeoutMs: 100 });
    await store.transact("first", () => {});
    proxy.blackHole();
    let ran = false;
    const hanging = store.transact("id", () => {
      ran = true;
    });
    await expect(hanging).rejects.toMatchObject({
      name: "StoreTimeoutError",
      operation: "transact",
      id: "id",
      timeoutMs: 100 + answerLimitMs,
    });
    await proxy.heal();
    expect(ran).toBe(false);
    expect(await store.transact("id", () => "ran")).toEqual({ status: "ran", value: "ran" });
  });

  it("at the COMMIT leaves open what happened, and the pool's only place is free again", async () => {
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url, maxConnections: 1 });
    const hanging = store.transact("id", () => proxy.blackHole());
    await expect(hanging).rejects.toMatchObject({ code: "BQ_COMMIT_UNKNOWN", id: "id" });
    await proxy.heal();
    expect((await store.transact("other", () => {})).status).toBe("ran");
  });

  it("has all the time it needs for the work itself", async () => {
    const store = await openStore({ lockTimeoutMs: 1 });
    const slow = (tx: { unsafe(sql: string): PromiseLike<unknown> }) =>
      tx.unsafe(`SELECT pg_sleep(${(answerLimitMs + 500) / 1_000})`);
    expect((await store.transact("id", slow)).status).toBe("ran");
  });
});
