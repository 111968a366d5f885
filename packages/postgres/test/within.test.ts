import { describe, expect, it } from "vitest";
import { freshName, openStore, plainClient } from "./support/database.ts";
import { until } from "./support/until.ts";

describe("within(tx)", () => {
  it("a duplicate does not abort the caller's transaction", async () => {
    const store = await openStore();
    const sql = plainClient();
    const effects = freshName();
    await sql`CREATE TABLE ${sql(effects)} (effect TEXT)`;
    await store.remember("id");
    await sql.begin(async (tx) => {
      const inside = store.within(tx);
      expect(await inside.markFirst("id")).toEqual({ status: "processed" });
      await inside.remember("id");
      await inside.rememberMany(["id", "id", "other"]);
      await tx`INSERT INTO ${tx(effects)} VALUES ('written after the duplicate')`;
    });
    expect((await sql`SELECT FROM ${sql(effects)}`).count).toBe(1);
    expect(await store.seenMany(["id", "other"])).toEqual([true, true]);
  });

  it("what is not a transaction is refused: a mark through a client would be kept when the effect is not", async () => {
    const store = await openStore();
    for (const wrong of [plainClient(), undefined, null, {}, "tx"]) {
      expect(() => store.within(wrong as never)).toThrow(TypeError);
      expect(() => store.within(wrong as never)).toThrow("within() takes the tx");
    }
  });

  it("a connection that its caller reserved and began a transaction on will do", async () => {
    const store = await openStore();
    const reserved = await plainClient().reserve();
    await reserved`BEGIN`;
    await store.within(reserved as never).remember("id");
    await reserved`ROLLBACK`;
    reserved.release();
    expect(await store.seen("id")).toBe(false);
  });

  it("of transactions that call markFirst for one id at the same time, one is told marked", async () => {
    const store = await openStore();
    const sql = plainClient(undefined, { max: 8 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sql.begin((tx) => store.within(tx).markFirst("id"))),
    );
    expect(answers.filter(({ status }) => status === "marked")).toHaveLength(1);
    expect(answers.filter(({ status }) => status === "processed")).toHaveLength(7);
  });

  it("markFirst that waited for a transaction which was rolled back marks", async () => {
    const store = await openStore();
    const sql = plainClient();
    let second: Promise<unknown> | undefined;
    const first = sql.begin(async (tx) => {
      await store.within(tx).markFirst("id");
      second = sql.begin((other) => store.within(other).markFirst("id"));
      await until(async () => (await sql`SELECT FROM pg_locks WHERE NOT granted`).count > 0);
      throw new Error("roll back");
    });
    await expect(first).rejects.toThrow("roll back");
    expect(await second).toEqual({ status: "marked" });
    expect(await store.seen("id")).toBe(true);
  });

  it("markFirst sees a claim that somebody holds", async () => {
    const store = await openStore();
    await store.claim("id", 60_000);
    const answer = await plainClient().begin((tx) => store.within(tx).markFirst("id"));
    expect(answer).toMatchObject({ status: "in-flight", retryAfterMs: expect.any(Number) });
  });

  it("time goes on inside a long transaction: a mark expires and its TTL starts when it is written", async () => {
    const store = await openStore({ ttlMs: 500 });
    await plainClient().begin(async (tx) => {
      const inside = store.within(tx);
      await tx`SELECT pg_sleep(0.6)`;
      await inside.remember("id");
      expect(await inside.seen("id")).toBe(true);
      await until(async () => !(await inside.seen("id")));
      expect(await inside.markFirst("id")).toEqual({ status: "marked" });
    });
  });
});
