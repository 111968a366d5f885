import { types as kinds } from "node:util";
import { expect, it, vi } from "vitest";
import {
  type Awaitable,
  ClaimParkedError,
  type IdempotencyEvent,
  StoreError,
  StoreTimeoutError,
  type TransactionalStore,
  type TransactResult,
  wrapTransactional,
} from "../src/index.ts";
import { message, silent } from "./stores.ts";

interface Tx {
  write(effect: string): void;
}

/** A little transactional database: what was written in a transaction is there once it committed, with the mark. */
function database(behaviour: { commit?: () => Awaitable<void>; begin?: () => Awaitable<void> } = {}) {
  const effects: string[] = [];
  const marks = new Set<string>();
  const store: TransactionalStore<Tx> = {
    ...silent,
    within: () => silent,
    async transact<R>(id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>> {
      await behaviour.begin?.();
      if (id !== undefined && marks.has(id)) return { status: "processed" };
      const written: string[] = [];
      const value = await work({ write: (effect) => written.push(effect) });
      await behaviour.commit?.();
      effects.push(...written);
      if (id !== undefined) marks.add(id);
      return { status: "ran", value };
    },
  };
  return { effects, marks, store };
}

function recorded() {
  const events: IdempotencyEvent[] = [];
  return {
    events,
    types: () => events.map(({ type }) => type),
    observe: (event: IdempotencyEvent) => void events.push(event),
  };
}

it("the handler is given the transaction, and its value comes back; a redelivery is skipped", async () => {
  const { effects, store } = database();
  const { observe, types } = recorded();
  const deliver = wrapTransactional(
    store,
    (_message: object, tx: Tx, amount: number) => {
      tx.write(`charged ${amount}`);
      return amount;
    },
    { observe },
  );
  expect([await deliver(message("a"), 5), await deliver(message("a"), 5)]).toEqual([5, undefined]);
  expect(effects).toEqual(["charged 5"]);
  expect(types()).toEqual(["ran", "skipped"]);
});

it("what the handler throws passes through untouched, at once or through a promise", async () => {
  const { effects, marks, store } = database();
  const { observe, types } = recorded();
  for (const error of [new Error("declined"), undefined]) {
    const async = wrapTransactional(store, () => Promise.reject(error), { observe });
    const sync = wrapTransactional(
      store,
      () => {
        throw error;
      },
      { observe },
    );
    await expect(async(message("a"))).rejects.toBe(error);
    await expect(sync(message("a"))).rejects.toBe(error);
  }
  expect(types()).toEqual(["failed", "failed", "failed", "failed"]);
  expect([effects, marks.size]).toEqual([[], 0]);
});

it("a transaction that did not commit is an error, and ran is never told", async () => {
  const { effects, store } = database({ commit: () => Promise.reject(new Error("disk full")) });
  const { events, observe } = recorded();
  const deliver = wrapTransactional(store, (_message: object, tx: Tx) => tx.write("x"), { observe });
  const error = await deliver(message("a")).catch((cause) => cause);
  expect(error).toBeInstanceOf(StoreError);
  expect(error.cause).toEqual(new Error("disk full"));
  expect(effects).toEqual([]);
  expect(events).toEqual([
    { type: "store-failed", id: "a", durationMs: expect.any(Number), error, action: "throw" },
  ]);
});

it("a duplicate that is under way elsewhere parks the delivery", async () => {
  const store = {
    ...database().store,
    transact: async () => ({ status: "in-flight" as const, retryAfterMs: 70 }),
  };
  const handler = vi.fn();
  const { observe, types } = recorded();
  const error = await wrapTransactional(store, handler, { observe })(message("a")).catch((cause) => cause);
  expect(error).toBeInstanceOf(ClaimParkedError);
  expect(error.retryAfterMs).toBe(70);
  expect(handler).not.toHaveBeenCalled();
  expect(types()).toEqual(["parked"]);
});

it("without a usable id the handler runs in a transaction that leaves no mark", async () => {
  const { effects, marks, store } = database();
  const { observe, types } = recorded();
  const deliver = wrapTransactional(store, (_message: object, tx: Tx) => tx.write("x"), { observe });
  await deliver(message(""));
  await deliver(message(""));
  expect([effects, marks.size, types()]).toEqual([["x", "x"], 0, ["unidentified", "unidentified"]]);
});

it("a store that hangs before the handler is a timeout, and the handler cannot run any more", async () => {
  let begin = () => {};
  const { effects, marks, store } = database({ begin: () => new Promise((resolve) => (begin = resolve)) });
  const handler = vi.fn((_message: object, tx: Tx) => tx.write("late"));
  const deliver = wrapTransactional(store, handler, { storeTimeoutMs: 10 });
  await expect(deliver(message("a"))).rejects.toThrow(StoreTimeoutError);
  begin();
  await new Promise(setImmediate);
  expect([handler.mock.calls.length, effects, marks.size]).toEqual([0, [], 0]);
});

it("a store that hangs at the commit leaves open what happened, and the error says so", async () => {
  const { store } = database({ commit: () => new Promise(() => {}) });
  const deliver = wrapTransactional(store, () => "ran", { storeTimeoutMs: 10 });
  await expect(deliver(message("a"))).rejects.toMatchObject({
    name: "StoreError",
    code: "BQ_COMMIT_UNKNOWN",
    id: "a",
  });
});

it("the handler's own time is not bounded by storeTimeoutMs", async () => {
  const { store } = database();
  const handler = () => new Promise((resolve) => setTimeout(resolve, 60, "slow"));
  expect(await wrapTransactional(store, handler, { storeTimeoutMs: 20 })(message("a"))).toBe("slow");
});

it("a transaction that the store repeats is one delivery, and only its last run counts", async () => {
  const { observe, types } = recorded();
  const conflict = new Error("serialization failure");
  const repeating: TransactionalStore<Tx> = {
    ...database().store,
    async transact<R>(_id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>> {
      await Promise.resolve(work({ write() {} })).catch(() => {});
      return { status: "ran", value: await work({ write() {} }) };
    },
  };
  let runs = 0;
  const handler = async () => {
    runs += 1;
    if (runs === 1) throw conflict;
    return runs;
  };
  expect(await wrapTransactional(repeating, handler, { observe })(message("a"))).toBe(2);
  expect(types()).toEqual(["ran"]);
});

it("a store that answers transact with anything else is a failing store, never a guess", async () => {
  for (const answer of [
    undefined,
    true,
    { status: "done" },
    { status: "in-flight", retryAfterMs: Number.NaN },
  ]) {
    const store = { ...database().store, transact: async () => answer as never };
    await expect(wrapTransactional(store, () => {})(message("a"))).rejects.toMatchObject({
      code: "BQ_STORE_FAILED",
    });
  }
});

it("a failure of the store behind a handler that threw is told as the store's", async () => {
  const { events, observe } = recorded();
  const declined = new Error("declined");
  const lost = new Error("connection lost in the rollback");
  const failing: TransactionalStore<Tx> = {
    ...database().store,
    async transact<R>(_id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>> {
      await Promise.resolve(work({ write() {} })).catch(() => {});
      throw lost;
    },
  };
  const deliver = wrapTransactional(failing, () => Promise.reject(declined), { observe });
  await expect(deliver(message("a"))).rejects.toMatchObject({ code: "BQ_STORE_FAILED", cause: lost });
  expect(events.map(({ type }) => type)).toEqual(["store-failed"]);
});

it("what an earlier run threw is forgotten: a commit that fails after the last run is the store's failure", async () => {
  const { events, observe } = recorded();
  const conflict = new Error("serialization failure");
  const repeating: TransactionalStore<Tx> = {
    ...database().store,
    async transact<R>(_id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>> {
      await Promise.resolve(work({ write() {} })).catch(() => {});
      await work({ write() {} });
      throw conflict;
    },
  };
  let runs = 0;
  const handler = async () => {
    runs += 1;
    if (runs === 1) throw conflict;
  };
  const deliver = wrapTransactional(repeating, handler, { observe });
  await expect(deliver(message("a"))).rejects.toMatchObject({ code: "BQ_STORE_FAILED", cause: conflict });
  expect(events.map(({ type }) => type)).toEqual(["store-failed"]);
});

it("a store whose transactions are synchronous sees whether the handler is async, and its TypeError comes through as it is", async () => {
  const { types, observe } = recorded();
  const synchronous: TransactionalStore<Tx> = {
    ...database().store,
    async transact<R>(_id: string | undefined, work: (tx: Tx) => Awaitable<R>): Promise<TransactResult<R>> {
      if (kinds.isAsyncFunction(work)) throw new TypeError("work must be synchronous");
      return { status: "ran", value: await work({ write() {} }) };
    },
  };
  const handler = vi.fn(() => "ran");
  const deliver = wrapTransactional(synchronous, async () => handler(), { observe });
  await expect(deliver(message("a"))).rejects.toThrow(new TypeError("work must be synchronous"));
  expect(handler).not.toHaveBeenCalled();
  expect(await wrapTransactional(synchronous, handler, { observe })(message("a"))).toBe("ran");
  expect(types()).toEqual(["failed", "ran"]);
});
