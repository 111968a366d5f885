import { wrapTransactional } from "@bq/idempotency-core";
import type Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SqliteStore } from "../src/index.ts";
import { errorOf, openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

let store: SqliteStore;
let witness: Sqlite.Database;

beforeEach(async () => {
  const path = temporaryFile();
  store = await openStore(path);
  witness = openDatabase(path);
  witness.exec("CREATE TABLE effects (note TEXT PRIMARY KEY)");
});

afterEach(async () => {
  // Whatever happened in a test, no lock may be left behind.
  await store.remember("after");
  witness.exec("INSERT INTO effects VALUES ('after')");
});

const insert = (note: string) => (tx: Sqlite.Database) => {
  tx.prepare("INSERT INTO effects VALUES (?)").run(note);
};
const effects = (): unknown[] => witness.prepare("SELECT note FROM effects").pluck().all();

describe("transact", () => {
  it("refuses an async handler of wrapTransactional before it runs, with an error that is not worth a retry", async () => {
    let ran = false;
    const deliver = wrapTransactional(store, async () => {
      ran = true;
    });
    const error = await deliver({ meta: { id: "a" } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).not.toHaveProperty("retryAfterMs");
    expect([ran, await store.seen("a")]).toEqual([false, false]);
  });

  it("commits the effect with the mark, and answers with the value of the work", async () => {
    const result = await store.transact("a", (tx) => {
      insert("a")(tx);
      expect(effects()).toEqual([]);
      return 42;
    });
    expect(result).toEqual({ status: "ran", value: 42 });
    expect(effects()).toEqual(["a"]);
    expect(await store.seen("a")).toBe(true);
  });

  it("does not run the work of a marked id", async () => {
    await store.remember("a");
    expect(await store.transact("a", insert("a"))).toEqual({ status: "processed" });
    expect(effects()).toEqual([]);
  });

  it("answers in-flight while another worker holds the claim, and runs when the lease is over", async () => {
    await store.claim("a", 60_000);
    expect(await store.transact("a", insert("a"))).toMatchObject({ status: "in-flight" });
    witness.exec("UPDATE babelqueue_idempotency SET claimed_until = claimed_until - 60000");
    expect(await store.transact("a", insert("a"))).toMatchObject({ status: "ran" });
    expect(effects()).toEqual(["a"]);
  });

  it("without an id runs the work in a transaction that writes no mark", async () => {
    await store.transact(undefined, insert("a"));
    expect(await errorOf(() => store.transact(undefined, failing("b")))).toMatchObject({ message: "no" });
    expect(effects()).toEqual(["a"]);
    expect(witness.prepare("SELECT count(*) FROM babelqueue_idempotency").pluck().get()).toBe(0);
  });

  it.each([[new Error("no")], ["a string"], [undefined]])(
    "passes on %s as it was thrown, and keeps nothing",
    async (thrown) => {
      const caught = await store
        .transact("a", (tx) => {
          insert("a")(tx);
          throw thrown;
        })
        .then(
          () => "nothing was thrown",
          (error: unknown) => [error],
        );
      expect(caught).toEqual([thrown]);
      expect(effects()).toEqual([]);
      expect(await store.seen("a")).toBe(false);
    },
  );

  it("of many at once for one id runs the work once", async () => {
    const results = await Promise.all(Array.from({ length: 10 }, () => store.transact("a", insert("a"))));
    expect(results.filter(({ status }) => status === "ran")).toHaveLength(1);
    expect(effects()).toEqual(["a"]);
  });

  it("refuses an async function before it has run at all", async () => {
    let ran = false;
    const error = await errorOf(() =>
      store.transact("a", async () => {
        ran = true;
      }),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("must be synchronous");
    expect(ran).toBe(false);
    expect(await store.seen("a")).toBe(false);
  });

  it("rolls back work that returns a promise, and its rejection stays handled", async () => {
    let reject: (error: Error) => void = () => undefined;
    const promise = new Promise<void>((_, fail) => {
      reject = fail;
    });
    const error = await errorOf(() =>
      store.transact("a", (tx) => {
        insert("a")(tx);
        return promise;
      }),
    );
    expect(error).toBeInstanceOf(TypeError);
    // The runner fails on an unhandled rejection.
    reject(new Error("later"));
    await new Promise(setImmediate);
    expect(effects()).toEqual([]);
    expect(await store.seen("a")).toBe(false);
  });

  it("rolls back work whose value cannot be looked at", async () => {
    const value = new Proxy({}, { get: () => raise(new Error("no look")) });
    const error = await errorOf(() =>
      store.transact("a", (tx) => {
        insert("a")(tx);
        return value;
      }),
    );
    expect(error.message).toBe("no look");
    expect(effects()).toEqual([]);
  });

  it.each(["COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN IMMEDIATE"])(
    "tells as an error that the work ran %s",
    async (sql) => {
      for (const fails of [false, true]) {
        const error = await errorOf(() =>
          store.transact(`a-${fails}`, (tx) => {
            tx.exec(sql);
            if (fails) throw new Error("and then it failed");
          }),
        );
        expect(error).toMatchObject({ name: "StoreError", operation: "transact" });
        expect(error.message).toContain("The transaction was over before the work was");
        expect((error.cause as Error | undefined)?.message).toBe(fails ? "and then it failed" : undefined);
      }
    },
  );

  it("tells as an error that SQLite rolled back while the work went on", async () => {
    const error = await errorOf(() =>
      store.transact("a", (tx) => {
        insert("a")(tx);
        expect(() => tx.exec("INSERT OR ROLLBACK INTO effects VALUES ('a')")).toThrow("UNIQUE");
        return "all is well";
      }),
    );
    expect(error).toMatchObject({ name: "StoreError", code: "BQ_STORE_FAILED" });
    expect(await store.seen("a")).toBe(false);
    expect(effects()).toEqual([]);
  });

  it("tells as an error that the COMMIT failed, and keeps nothing", async () => {
    witness.exec("CREATE TABLE lines (note TEXT REFERENCES effects DEFERRABLE INITIALLY DEFERRED)");
    const error = await errorOf(() =>
      store.transact("a", (tx) => tx.exec("INSERT INTO lines VALUES ('of nothing')") && 1),
    );
    expect(error).toMatchObject({ name: "StoreError", cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } });
    expect(await store.seen("a")).toBe(false);
    expect(witness.prepare("SELECT count(*) FROM lines").pluck().get()).toBe(0);
  });

  it.each(["succeeds", "fails"])(
    "leaves no lock behind when the work leaves a query half read and %s",
    async (how) => {
      let rows: Iterator<unknown> | undefined;
      const error = await errorOf(() =>
        store.transact("a", (tx) => {
          insert("a")(tx);
          rows = tx.prepare("SELECT 1 UNION SELECT 2").iterate();
          rows.next();
          if (how === "fails") throw new Error("no");
        }),
      );
      expect(error.message).toContain(how === "fails" ? "no" : "busy executing a query");
      witness.exec("INSERT INTO effects VALUES ('by somebody else')");
      rows?.return?.();
      expect(effects()).toEqual(["by somebody else"]);
      expect(await store.seen("a")).toBe(false);
    },
  );

  it("does not run the work again when the work itself met a lock", async () => {
    let runs = 0;
    const error = await errorOf(() =>
      store.transact("a", () => {
        runs++;
        throw Object.assign(new Error("another database is locked"), { code: "SQLITE_BUSY" });
      }),
    );
    expect(error).toMatchObject({ message: "another database is locked" });
    expect(runs).toBe(1);
  });

  it("does not nest, and says what to do instead", async () => {
    let inner: Promise<Error> | undefined;
    await store.transact("a", () => {
      inner = errorOf(() => store.transact("b", insert("b")));
    });
    expect((await inner)?.message).toContain("do not nest");
    expect(effects()).toEqual([]);
    expect(await store.seen("b")).toBe(false);
  });
});

function failing(note: string): (tx: Sqlite.Database) => void {
  return (tx) => {
    insert(note)(tx);
    throw new Error("no");
  };
}

function raise(error: Error): never {
  throw error;
}
