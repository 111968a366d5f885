import { describe, expect, it } from "vitest";
import { type PostgresConnectOptions, PostgresStore, type PostgresStoreOptions } from "../src/index.ts";
import { openStore, plainClient, sharedUrl } from "./support/database.ts";

describe("options", () => {
  it.each([
    [{ ttlMs: 0 }, "ttlMs"],
    [{ ttlMs: -1 }, "ttlMs"],
    [{ ttlMs: Number.NaN }, "ttlMs"],
    [{ ttlMs: 1.5 }, "ttlMs"],
    [{ ttlMs: "1 day" }, "ttlMs"],
    [{ lockTimeoutMs: 0 }, "lockTimeoutMs"],
    [{ lockTimeoutMs: 2 ** 31 }, "lockTimeoutMs"],
    [{ retries: -1 }, "retries"],
    [{ table: 7 }, "table"],
    [{ tabel: "x" }, "tabel"],
    [null, "options"],
  ])("%j is refused at construction, naming %s", async (options, name) => {
    const given = options as PostgresStoreOptions;
    expect(() => new PostgresStore(plainClient(), given)).toThrow(name);
    await expect(PostgresStore.connect(sharedUrl, given)).rejects.toThrow(name);
  });

  it.each([
    [{ prepare: "no" }, "prepare"],
    [{ maxConnections: 0 }, "maxConnections"],
    [{ connectTimeoutMs: 0 }, "connectTimeoutMs"],
    [{ applicationName: 1 }, "applicationName"],
  ])("connect refuses %j, naming %s", async (options, name) => {
    await expect(PostgresStore.connect(sharedUrl, options as PostgresConnectOptions)).rejects.toThrow(name);
  });

  it.each([undefined, null, "", 5, "localhost", "http://user:secret@host"])(
    "connect refuses %j for an URL",
    async (url) => {
      const refused = PostgresStore.connect(url as string);
      await expect(refused).rejects.toThrow(/^PostgresStore\.connect needs an URL such as postgres:/);
      await expect(refused).rejects.not.toThrow(/secret/);
    },
  );

  it("an option that is refused leaves no connection behind", async () => {
    const options = { applicationName: "refused", ttlMs: 0 };
    await expect(PostgresStore.connect(sharedUrl, options)).rejects.toThrow(RangeError);
    const open = await plainClient()`SELECT FROM pg_stat_activity WHERE application_name = 'refused'`;
    expect(open.count).toBe(0);
  });

  it("a client must be a client, not a transaction on one", async () => {
    for (const client of [undefined, null, {}, "postgres://"]) {
      expect(() => new PostgresStore(client as never)).toThrow(TypeError);
    }
    await plainClient().begin(async (tx) => {
      expect(() => new PostgresStore(tx as never)).toThrow(/store\.within\(tx\)/);
    });
  });

  it("the server lists the connections under their applicationName", async () => {
    const store = await openStore({ applicationName: "orders-consumer" });
    await store.seen("id");
    const found =
      await plainClient()`SELECT FROM pg_stat_activity WHERE application_name = 'orders-consumer'`;
    expect(found.count).toBe(1);
  });

  it("the longest TTL and the longest lease are times that Postgres can hold", async () => {
    const store = await openStore({ ttlMs: 3_155_760_000_000 });
    await store.remember("id");
    expect(await store.seen("id")).toBe(true);
    expect(await store.claim("other", 2_147_483_647)).toMatchObject({ status: "claimed" });
    expect(await store.claim("other", 1)).toMatchObject({
      status: "in-flight",
      retryAfterMs: expect.closeTo(2_147_483_647, -6),
    });
  });
});
