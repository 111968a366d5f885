import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";

describe("a pool that transactions use up", () => {
  it("fails the call that would wait for its own transaction, and works on", async () => {
    const store = await openStore({ maxConnections: 1 });
    await expect(store.transact("id", () => store.seen("other"))).rejects.toThrow(/store\.within\(tx\)/);
    await expect(store.transact("id", () => store.transact("other", () => 1))).rejects.toThrow(
      /held by transactions/,
    );
    expect(await store.transact("id", (tx) => store.within(tx).seen("other"))).toEqual({
      status: "ran",
      value: false,
    });
  });

  it("fails only the call that would close the circle, also across two stores on one client", async () => {
    const sql = plainClient(undefined, { max: 2 });
    const [one, two] = [
      new PostgresStore(sql, { table: freshName() }),
      new PostgresStore(sql, { table: freshName() }),
    ];
    await one.migrate();
    await two.migrate();
    let arrived = 0;
    let bothArrived: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      bothArrived = resolve;
    });
    const nested = async (store: PostgresStore) => {
      if (++arrived === 2) bothArrived();
      await both;
      return store.seen("other");
    };
    const results = await Promise.allSettled([
      one.transact("1", () => nested(two)),
      two.transact("2", () => nested(one)),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("does not mistake a call after the transaction for one inside it", async () => {
    const store = await openStore({ maxConnections: 1 });
    let later: Promise<boolean> | undefined;
    let over: () => void = () => undefined;
    const transacted = new Promise<void>((resolve) => {
      over = resolve;
    });
    await store.transact("id", () => {
      later = transacted.then(() => store.seen("id"));
    });
    over();
    expect(await later).toBe(true);
  });
});
