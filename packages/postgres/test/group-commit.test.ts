import { AsyncLocalStorage } from "node:async_hooks";
import type { Claim } from "@bq/idempotency-core";
import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, plainClient } from "./support/database.ts";
import { calls, claimAll, idsOf } from "./support/many-calls.ts";

/** A store on a client whose statements are listed as they are sent. */
async function watchedStore() {
  const statements: string[] = [];
  const sql = plainClient(undefined, { debug: (_, text) => statements.push(text) });
  const table = freshName();
  const store = new PostgresStore(sql, { table });
  await store.migrate();
  return { store, sql, table, statements };
}

describe("calls that arrive together", () => {
  it.each(Object.entries(calls))("of %s share a few statements", async (_, call) => {
    const { store, statements } = await watchedStore();
    const claims = await claimAll(store, idsOf(100));
    statements.length = 0;
    await Promise.all(claims.map((claim) => call(store, claim)));
    expect(statements.length).toBeLessThan(10);
  });

  it("are two statements instead of one while most of their ids are processed, and no marks will follow", async () => {
    const { store, table, statements } = await watchedStore();
    const ask: Record<string, (id: string) => Promise<unknown>> = {
      seen: (id: string) => store.seen(id),
      claim: (id: string) => store.claim(id, 60_000),
    };
    for (const [kind, call] of Object.entries(ask)) {
      const statementsFor = async (ids: string[]): Promise<number> => {
        statements.length = 0;
        await Promise.all(ids.map(call));
        // A new connection of the driver also asks for the server's types.
        return statements.filter((text) => text.includes(table)).length;
      };
      const marked = idsOf(64, kind);
      await store.rememberMany(marked);
      expect(await statementsFor(idsOf(64, `${kind}-new`))).toBe(1);
      expect(await statementsFor(marked)).toBe(1);
      expect(await statementsFor(marked)).toBe(2);
      expect(await statementsFor(idsOf(64, `${kind}-newer`))).toBe(2);
      expect(await statementsFor(marked)).toBe(1);
    }
  });

  it("are one statement each when they come one after another", async () => {
    const { store, statements } = await watchedStore();
    for (const id of idsOf(3)) {
      const [claim] = await claimAll(store, [id]);
      if (claim === undefined) throw new Error("Nothing was claimed.");
      statements.length = 0;
      for (const call of Object.values(calls)) await call(store, claim);
      expect(statements.length).toBe(Object.keys(calls).length);
      expect(statements.join()).not.toContain("json");
    }
  });

  it("share nothing inside a transaction", async () => {
    const { store, sql, statements } = await watchedStore();
    await sql.begin(async (tx) => {
      statements.length = 0;
      await Promise.all(idsOf(20).map((id) => store.within(tx).remember(id)));
      expect(statements).toHaveLength(20);
    });
  });

  it("for one id at the same time: exactly one claim of many wins", async () => {
    const store = await openStore();
    const results = await Promise.all(idsOf(50).map((_, turn) => store.claim(`id-${turn % 5}`, 60_000)));
    expect(results.filter(({ status }) => status === "claimed")).toHaveLength(5);
    expect(results.filter(({ status }) => status === "in-flight")).toHaveLength(45);
  });

  it("have each its own answer", async () => {
    const table = freshName();
    const store = await openStore({ table, ttlMs: 3_600_000 });
    const [held, lost, gone] = [
      await claimAll(store, idsOf(20, "held")),
      await claimAll(store, idsOf(20, "lost")),
      await claimAll(store, idsOf(20, "gone")),
    ];
    await plainClient().unsafe(
      `UPDATE "${table}" SET claim_token = 'another' WHERE message_id LIKE 'lost-%'`,
    );
    for (const { id } of gone) await store.forget(id);
    const mixed = idsOf(20).flatMap((_, place) =>
      [lost[place], held[place], gone[place]].flatMap((claim) => claim ?? []),
    );
    const expected = mixed.map(({ id }) => id.startsWith("held"));
    const answersTo = (call: (claim: Claim) => Promise<unknown>) => Promise.all(mixed.map(call));
    expect(await answersTo((claim) => store.renew(claim, 600_000))).toEqual(expected);
    expect(await answersTo((claim) => store.commit(claim))).toEqual(expected);
    expect(await answersTo(({ id }) => store.seen(id))).toEqual(expected.map(() => true));
    expect(await answersTo((claim) => store.release(claim))).toEqual(expected.map(() => false));
    expect(await answersTo((claim) => store.commit(claim))).toEqual(expected.map(() => false));
    expect(await answersTo(async ({ id }) => (await store.claim(id, 1)).status)).toEqual(
      expected.map(() => "processed"),
    );
    await answersTo(({ id }) => store.forget(id));
    expect(await answersTo(({ id }) => store.seen(id))).toEqual(expected.map(() => false));
    const again = await claimAll(store, idsOf(20, "held"));
    expect(await Promise.all(again.map((claim) => store.release(claim)))).toEqual(again.map(() => true));
  });

  it("keep each its async context", async () => {
    const store = await openStore();
    const context = new AsyncLocalStorage<string>();
    const found = await Promise.all(
      idsOf(30).map((id) =>
        context.run(id, async () => {
          await store.remember(id);
          return context.getStore();
        }),
      ),
    );
    expect(found).toEqual(idsOf(30));
  });
});
