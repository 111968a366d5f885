import { expect, it, vi } from "vitest";
import { type BatchStore, type IdempotencyEvent, InMemoryStore, wrapBatch } from "../src/index.ts";
import { failing, message, remote, silent } from "./stores.ts";

interface Job {
  meta: { id: unknown };
  fail?: boolean;
  n?: number;
}

const job = (id: unknown, more: Partial<Job> = {}): Job => ({ ...message(id), ...more });
const outcomes = (results: readonly { outcome: string }[]) => results.map(({ outcome }) => outcome);

/** Counts what the store is asked. */
function counted(store = new InMemoryStore()) {
  const calls: string[] = [];
  const noted = <T>(call: string, answer: T): T => {
    calls.push(call);
    return answer;
  };
  const batch: BatchStore = {
    seen: (id) => noted("seen", store.seen(id)),
    remember: (id) => noted("remember", store.remember(id)),
    forget: (id) => store.forget(id),
    seenMany: async (ids) => noted(`seenMany ${ids}`, store.seenMany(ids)),
    rememberMany: async (ids) => noted(`rememberMany ${ids}`, store.rememberMany(ids)),
  };
  return { batch, calls, store };
}

it("a batch costs one question and one write, and answers in the order of its messages", async () => {
  const { batch, calls, store } = counted();
  store.remember("b");
  const deliver = wrapBatch(batch, (sent: Job) => `did ${sent.meta.id}`);
  const messages = [job("a"), job("b"), job("c")];
  expect(await deliver(messages)).toEqual([
    { message: messages[0], outcome: "ran", value: "did a" },
    { message: messages[1], outcome: "skipped" },
    { message: messages[2], outcome: "ran", value: "did c" },
  ]);
  expect(calls).toEqual(["seenMany a,b,c", "rememberMany a,c"]);
});

it("a hundred messages with forty duplicates and five failures have 95 right outcomes and 5 failures, in order", async () => {
  const store = new InMemoryStore();
  const ran: unknown[] = [];
  const deliver = wrapBatch(store, (sent: Job) => {
    if (sent.fail) throw new Error(`cannot do ${sent.meta.id}`);
    ran.push(sent.meta.id);
    return sent.n;
  });
  const known = Array.from({ length: 30 }, (_, n) => `known-${n}`);
  store.rememberMany(known);
  const fresh = Array.from({ length: 55 }, (_, n) => `fresh-${n}`);
  const messages = [
    ...fresh.map((id) => job(id)),
    ...known.map((id) => job(id)),
    ...fresh.slice(0, 10).map((id) => job(id)),
    ...Array.from({ length: 5 }, (_, n) => job(`bad-${n}`, { fail: true })),
  ].map((sent, n) => ({ ...sent, n }));
  // Mixed, but repeatably, with the repetitions in the batch after their firsts.
  messages.sort((a, b) => ((a.n * 7) % 50) - ((b.n * 7) % 50) || a.n - b.n);
  const results = await deliver(messages);
  expect(results.map((result) => result.message)).toEqual(messages);
  const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
  expect([count("ran"), count("skipped"), count("failed")]).toEqual([55, 40, 5]);
  for (const result of results) {
    if (result.outcome === "ran") expect(result.value).toBe((result.message as Job).n);
    if (result.outcome === "failed")
      expect(result.error).toEqual(new Error(`cannot do ${result.message.meta.id}`));
  }
  expect(new Set(ran)).toEqual(new Set(fresh));
  expect(ran).toHaveLength(55);
  expect(store.seenMany([...fresh, ...known])).toEqual(Array(85).fill(true));
  expect(store.seen("bad-0")).toBe(false);
});

for (const concurrency of [1, 2, 16]) {
  it(`a repeated id runs again after a failure and is skipped after a success (concurrency ${concurrency})`, async () => {
    let attempts = 0;
    const deliver = wrapBatch(
      new InMemoryStore(),
      async () => {
        await new Promise(setImmediate);
        attempts += 1;
        if (attempts < 3) throw new Error(`attempt ${attempts}`);
        return attempts;
      },
      { concurrency },
    );
    const results = await deliver([job("a"), job("a"), job("a"), job("a"), job("a")]);
    expect(outcomes(results)).toEqual(["failed", "failed", "ran", "skipped", "skipped"]);
    expect(attempts).toBe(3);
  });
}

it("handlers run one after another in order by default, and never more at once than concurrency says", async () => {
  const order: unknown[] = [];
  let running = 0;
  let most = 0;
  const handler = async (sent: Job) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
    order.push(sent.meta.id);
    running -= 1;
  };
  const ids = Array.from({ length: 12 }, (_, n) => `id-${n}`);
  await wrapBatch(new InMemoryStore(), handler)(ids.map((id) => job(id)));
  expect([order, most]).toEqual([ids, 1]);
  most = 0;
  await wrapBatch(new InMemoryStore(), handler, { concurrency: 4 })(ids.map((id) => job(id)));
  expect(most).toBe(4);
});

it("messages without a usable id run each time, also twice in a batch", async () => {
  const { batch, calls } = counted();
  const handler = vi.fn();
  await wrapBatch(batch, handler as (sent: Job) => void)([job(""), job(7), job("")]);
  expect(handler).toHaveBeenCalledTimes(3);
  expect(calls).toEqual([]);
});

it("an empty batch asks nothing", async () => {
  const { batch, calls } = counted();
  expect(await wrapBatch(batch, () => {})([])).toEqual([]);
  expect(calls).toEqual([]);
});

it("a plain store works too, with single calls", async () => {
  const store = new InMemoryStore();
  store.remember("b");
  const results = await wrapBatch(remote(store), () => {})([job("a"), job("b"), job("a")]);
  expect(outcomes(results)).toEqual(["ran", "skipped", "skipped"]);
  expect(store.seen("a")).toBe(true);
});

it("a plain store that fails for one id fails that message alone", async () => {
  const store = failing({ seen: 1 });
  const results = await wrapBatch(store, () => {}, { observe: () => {} })([job("a"), job("b")]);
  expect(outcomes(results)).toEqual(["failed", "ran"]);
  expect(results[0]?.error).toMatchObject({ code: "BQ_STORE_FAILED", operation: "seen", id: "a" });
});

it("a store that cannot answer fails every message with an id, and runs those without", async () => {
  const batch = { ...silent, seenMany: () => new Promise<boolean[]>(() => {}), rememberMany: () => {} };
  const handler = vi.fn();
  const events: IdempotencyEvent[] = [];
  const observe = (event: IdempotencyEvent) => void events.push(event);
  const results = await wrapBatch(batch, handler as (sent: Job) => void, { storeTimeoutMs: 10, observe })([
    job("a"),
    job(""),
  ]);
  expect(outcomes(results)).toEqual(["failed", "ran"]);
  expect(results[0]?.error).toMatchObject({ code: "BQ_STORE_TIMEOUT", operation: "seenMany" });
  expect(handler).toHaveBeenCalledTimes(1);
  expect(events.map(({ type }) => type)).toEqual(["store-failed", "unidentified"]);
});

it("with onStoreFailure run they run unguarded and are marked", async () => {
  const store = new InMemoryStore();
  const batch: BatchStore = {
    seen: (id) => store.seen(id),
    remember: (id) => store.remember(id),
    forget: (id) => store.forget(id),
    seenMany: () => Promise.reject(new Error("down")),
    rememberMany: (ids) => store.rememberMany(ids),
  };
  const deliver = wrapBatch(batch, () => {}, { onStoreFailure: "run", observe: () => {} });
  expect(outcomes(await deliver([job("a"), job("a")]))).toEqual(["ran", "skipped"]);
  expect(store.seen("a")).toBe(true);
});

for (const [what, answer] of [
  ["too few answers", [false]],
  ["too many answers", [false, false, false]],
  ["something that is no list", "ff"],
  ["answers that are no booleans", ["f", "f"]],
] as const) {
  it(`a store that gives ${what} is a failing store, never a guess`, async () => {
    const store = new InMemoryStore();
    const batch = Object.assign(store, { seenMany: () => answer as unknown as boolean[] });
    const handler = vi.fn();
    const results = await wrapBatch(batch, handler, { observe: () => {} })([job("a"), job("b")]);
    expect(outcomes(results)).toEqual(["failed", "failed"]);
    expect(handler).not.toHaveBeenCalled();
  });
}

it("marks that fail are tried again together; when they fail for good the option decides", async () => {
  for (const [failures, onMarkFailure, expected] of [
    [2, "throw", ["ran", "ran", "failed"]],
    [9, "ack", ["ran", "ran", "failed"]],
    [9, "throw", ["failed", "ran", "failed"]],
  ] as const) {
    const { batch, store } = counted();
    let left: number = failures;
    batch.rememberMany = (ids) => {
      if (left-- > 0) throw new Error("down");
      store.rememberMany(ids);
    };
    const events: IdempotencyEvent[] = [];
    const observe = (event: IdempotencyEvent) => void events.push(event);
    const handler = (sent: Job) => {
      if (sent.fail) throw new Error("declined");
    };
    const deliver = wrapBatch(batch, handler, { onMarkFailure, observe });
    expect(outcomes(await deliver([job("a"), job(""), job("b", { fail: true })]))).toEqual(expected);
    expect(events.filter(({ type }) => type === "mark-failed")).toHaveLength(failures > 2 ? 1 : 0);
  }
});

it("with onMarkFailure throw a repetition fails with the message whose mark failed, and does not run again", async () => {
  const handler = vi.fn();
  const options = { onMarkFailure: "throw", markAttempts: 1, observe: () => {} } as const;
  const down = () => Promise.reject(new Error("down"));
  const { batch, store } = counted();
  store.remember("marked before");
  const messages = [job("a"), job("marked before"), job("a"), job(undefined)];
  for (const broken of [
    { ...batch, rememberMany: down },
    { ...remote(store), remember: down },
  ]) {
    handler.mockClear();
    const results = await wrapBatch(broken, handler, options)(messages);
    expect(outcomes(results)).toEqual(["failed", "skipped", "failed", "ran"]);
    expect(results[2]?.error).toBe(results[0]?.error);
    expect(handler).toHaveBeenCalledTimes(2);
  }
});

it("further arguments are passed to each handler", async () => {
  const deliver = wrapBatch(new InMemoryStore(), (_sent: Job, factor: number) => factor * 2);
  expect(await deliver([job("a")], 21)).toMatchObject([{ value: 42 }]);
});

it("what is not an array of messages is a TypeError", async () => {
  const deliver = wrapBatch(new InMemoryStore(), () => {}) as unknown as (
    messages: unknown,
  ) => Promise<unknown>;
  for (const messages of [undefined, null, "ab", { length: 1 }])
    await expect(deliver(messages)).rejects.toThrow(TypeError);
});

it("changing the array while the batch runs changes nothing", async () => {
  const messages = [job("a"), job("b")];
  const results = await wrapBatch(new InMemoryStore(), () => void messages.pop())(messages);
  expect(outcomes(results)).toEqual(["ran", "ran"]);
});
