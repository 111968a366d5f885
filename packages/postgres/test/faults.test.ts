import { wrap } from "@bq/idempotency-core";
import { describe, expect, it } from "vitest";
import { PostgresStore } from "../src/index.ts";
import { freshName, openStore, ownProxy, ownServer, plainClient } from "./support/database.ts";
import { until } from "./support/until.ts";

const message = (id: string) => ({ meta: { id } });

describe("a server that goes away", () => {
  it("connect fails at once when nobody listens, and in time when nobody answers", async () => {
    await expect(PostgresStore.connect("postgres://postgres@127.0.0.1:1/x")).rejects.toMatchObject({
      name: "StoreError",
      code: "BQ_STORE_FAILED",
    });
    const proxy = await ownProxy();
    proxy.blackHole();
    await expect(PostgresStore.connect(proxy.url, { connectTimeoutMs: 200 })).rejects.toThrow(
      /CONNECT_TIMEOUT/,
    );
  });

  it("in the middle of a load nothing is lost and nothing is marked that did not run", async () => {
    const server = await ownServer();
    const store = await openStore({ url: server.url, maxConnections: 8, connectTimeoutMs: 500 });
    const ran = new Map<string, number>();
    const acknowledged: string[] = [];
    const errors: unknown[] = [];
    const consume = wrap(
      store,
      ({ meta }: { meta: { id: string } }) => {
        ran.set(meta.id, (ran.get(meta.id) ?? 0) + 1);
      },
      { onMarkFailure: "throw", storeTimeoutMs: 2_000, observe: () => {} },
    );
    let next = 0;
    let stopping = false;
    const workers = Array.from({ length: 8 }, async () => {
      while (!stopping) {
        const id = `id-${next++}`;
        try {
          await consume(message(id));
          acknowledged.push(id);
        } catch (error) {
          errors.push(error);
        }
      }
    });
    await until(() => acknowledged.length > 100);
    await server.kill();
    await until(() => errors.length > 10);
    await server.restart();
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 100);
    stopping = true;
    await Promise.all(workers);

    const marked = await store.seenMany(acknowledged);
    expect(acknowledged.filter((_, place) => !marked[place])).toEqual([]);
    const all = Array.from({ length: next }, (_, number) => `id-${number}`);
    const seen = await store.seenMany(all);
    expect(all.filter((id, place) => seen[place] && !ran.has(id))).toEqual([]);
    for (const error of errors) expect(error).toMatchObject({ code: expect.stringMatching(/^BQ_STORE_/) });
  });

  it("when it is shut down in the middle of a transaction, nothing of that is left", async () => {
    const server = await ownServer();
    const store = await openStore({ url: server.url });
    const sql = plainClient(server.url);
    await sql`CREATE TABLE effects (effect TEXT)`;
    const interrupted = store.transact("id", async (tx) => {
      await tx`INSERT INTO effects VALUES ('first')`;
      await server.restart();
      await tx`INSERT INTO effects VALUES ('second')`;
    });
    await expect(interrupted).rejects.toMatchObject({ name: "StoreError" });
    await until(() =>
      store.seen("id").then(
        (seen) => !seen,
        () => false,
      ),
    );
    await until(() =>
      sql`SELECT FROM effects`.then(
        ({ count }) => count === 0,
        () => false,
      ),
    );
    const again = await store.transact("id", async (tx) => {
      await tx`INSERT INTO effects VALUES ('again')`;
    });
    expect(again.status).toBe("ran");
    expect(await sql`SELECT effect FROM effects`.values()).toEqual([["again"]]);
  });
});

describe("a network that fails", () => {
  it("a connection that swallows everything fails the delivery in time, before the handler ran", async () => {
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url });
    await store.seen("warm");
    let runs = 0;
    const consume = wrap(store, () => runs++, { storeTimeoutMs: 100 });
    proxy.blackHole();
    await expect(consume(message("id"))).rejects.toMatchObject({ code: "BQ_STORE_TIMEOUT" });
    expect(runs).toBe(0);
    await proxy.heal();
    await until(() =>
      consume(message("id")).then(
        () => true,
        () => false,
      ),
    );
    expect(runs).toBe(1);
  });

  it("a mark whose answer was lost is tried again, and is there once", async () => {
    const table = freshName();
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url, table });
    await store.remember("warm");
    let cut: Promise<void> | undefined;
    const consume = wrap(store, () => {
      cut = proxy.cutBeforeReply();
      return "done";
    });
    expect(await consume(message("id"))).toBe("done");
    await cut;
    expect(await store.seen("id")).toBe(true);
  });

  it("a claim survives that the store is away before the renewal and back before the lease is over", async () => {
    const table = freshName();
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url, table, maxConnections: 2 });
    const other = await openStore({ table });
    const claimed = await store.claim("id", 600_000);
    if (claimed.status !== "claimed") throw new Error("The id was free.");
    await proxy.cut();
    await expect(store.renew(claimed.claim, 600_000)).rejects.toMatchObject({ code: "BQ_STORE_FAILED" });
    await proxy.heal();
    await until(() => store.renew(claimed.claim, 600_000).catch(() => false));
    expect(await other.claim("id", 1)).toMatchObject({ status: "in-flight" });
    expect(await store.commit(claimed.claim)).toBe(true);
  });

  it("calls that begin while a connection breaks are answered with their own answer or an error", async () => {
    const table = freshName();
    const proxy = await ownProxy();
    const store = await openStore({ url: proxy.url, table, maxConnections: 2, connectTimeoutMs: 300 });
    await store.rememberMany(Array.from({ length: 100 }, (_, number) => `yes-${number}`));
    let wrong = 0;
    let failures = 0;
    let answers = 0;
    let stopping = false;
    const callers = Array.from({ length: 16 }, async (_, caller) => {
      for (let turn = 0; !stopping; turn++) {
        const marked = (turn + caller) % 2 === 0;
        const id = `${marked ? "yes" : "no"}-${turn % 100}`;
        try {
          if ((await store.seen(id)) !== marked) wrong++;
          answers++;
        } catch {
          failures++;
        }
      }
    });
    for (let turn = 0; turn < 20; turn++) {
      const before = answers;
      proxy.cutOnce();
      await until(() => answers > before + 20);
    }
    stopping = true;
    await proxy.heal();
    await Promise.all(callers);
    expect(failures).toBeGreaterThan(0);
    expect(wrong).toBe(0);
  });
});
