import type postgres from "postgres";
import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, ownProxy, plainClient } from "./support/database.ts";
import { calls, claimAll, idsOf } from "./support/many-calls.ts";
import { until } from "./support/until.ts";

// Of calls that are made together the first ones are sent at once and alone; this one shares a statement with others.
const heldPlace = 20;
const heldId = `id-${heldPlace}`;

interface Hold {
  /** Holds the id in a transaction that stays open. */
  hold(store: PostgresStore, tx: postgres.TransactionSql, table: string): Promise<unknown>;
  /** The calls that have to wait for its end. */
  readonly blocks: readonly string[];
}

const holds: Record<string, Hold> = {
  "a mark that is not committed": {
    hold: (store, tx) => store.within(tx).remember(heldId),
    blocks: ["remember", "claim", "commit"],
  },
  "a lock on its row": {
    hold: (_, tx, table) => tx`SELECT FROM ${tx(table)} WHERE message_id = ${heldId} FOR UPDATE`,
    blocks: ["remember", "forget", "renew", "commit", "release"],
  },
};

describe.each(Object.entries(holds))("while a transaction holds an id by %s", (way, { hold, blocks }) => {
  it.each(Object.entries(calls))("%s of others is answered", async (name, call) => {
    const table = freshName();
    const store = await openStore({ table });
    const claims = await claimAll(store, idsOf(40));
    if (way === "a mark that is not committed") await store.forget(heldId);
    if (name === "claim") {
      const free = claims.filter(({ id }) => id !== heldId);
      await Promise.all(free.map((claim) => store.release(claim)));
    }
    let pending: Promise<unknown>[] = [];
    await plainClient().begin(async (tx) => {
      await hold(store, tx, table);
      const startedAt = performance.now();
      pending = claims.map((claim) => call(store, claim));
      let heldAnswered = false;
      pending[heldPlace]?.then(() => {
        heldAnswered = true;
      });
      // The transaction does not end before them: if they waited for it they would wait for ever.
      await Promise.all(pending.filter((_, place) => place !== heldPlace));
      if (blocks.includes(name)) expect(heldAnswered).toBe(false);
      else await pending[heldPlace];
      // It takes a tenth of a second; a busy machine takes longer, but not seconds.
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    });
    await Promise.all(pending);
  });
});

describe("a call that the server refuses", () => {
  it("fails alone, whatever calls share its statement", async () => {
    const table = freshName();
    const store = await openStore({ table });
    await plainClient().unsafe(`ALTER TABLE "${table}" ADD CHECK (message_id <> 'id-20')`);
    const refusable = [
      (id: string): Promise<unknown> => store.remember(id),
      (id: string): Promise<unknown> => store.claim(id, 60_000),
    ];
    for (const call of refusable) {
      const outcomes = await Promise.allSettled(idsOf(40).map(call));
      expect(outcomes.flatMap(({ status }, place) => (status === "rejected" ? [place] : []))).toEqual([20]);
      expect(outcomes[20]).toMatchObject({ reason: { name: "StoreError", id: "id-20" } });
    }
  });

  it("for its token fails alone", async () => {
    const store = await openStore();
    const claims = await claimAll(store, idsOf(40));
    const strange = claims.map((claim, place) =>
      place === heldPlace ? { ...claim, token: "\u0000" } : claim,
    );
    const outcomes = await Promise.allSettled(strange.map((claim) => store.commit(claim)));
    expect(outcomes.flatMap(({ status }, place) => (status === "rejected" ? [place] : []))).toEqual([20]);
  });

  it("for the table's sake fails all, each with its own id and the advice to migrate", async () => {
    const table = freshName();
    await openStore({ table });
    const statements: string[] = [];
    const sql = plainClient(undefined, { debug: (_, text) => statements.push(text) });
    const store = new PostgresStore(sql, { table });
    await Promise.all(idsOf(40).map((id) => store.seen(id)));
    await plainClient().unsafe(`DROP TABLE "${table}"`);
    statements.length = 0;
    const outcomes = await Promise.allSettled(idsOf(40).map((id) => store.remember(id)));
    for (const [place, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject({ reason: { code: "BQ_STORE_SCHEMA", id: `id-${place}` } });
    }
    expect(statements.length).toBeLessThan(10);
  });
});

it("claims whose shared answer was lost are all given back", async () => {
  const table = freshName();
  const proxy = await ownProxy();
  const store = await openStore({ url: proxy.url, table, maxConnections: 1 });
  const other = await openStore({ table });
  // The statements are prepared first, so that what is lost below is the answer to their execution.
  await claimAll(store, idsOf(40, "prepared"));
  const cut = proxy.cutBeforeReply();
  const outcomes = await Promise.allSettled(idsOf(40).map((id) => store.claim(id, 600_000)));
  await cut;
  const lost = outcomes.flatMap(({ status }, place) => (status === "rejected" ? [`id-${place}`] : []));
  expect(lost.length).toBeGreaterThan(0);
  const free = new Set<string>();
  await until(async () => {
    for (const id of lost.filter((each) => !free.has(each))) {
      if ((await other.claim(id, 600_000)).status === "claimed") free.add(id);
    }
    return free.size === lost.length;
  });
});
