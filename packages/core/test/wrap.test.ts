import { expect, it, vi } from "vitest";
import { InMemoryStore, Wrap, wrap } from "../src/index.ts";
import { message, remote } from "./stores.ts";

for (const [kind, open] of [
  ["that answers at once", () => new InMemoryStore()],
  ["behind a network", () => remote()],
] as const) {
  it(`a redelivery is skipped and resolves to undefined (store ${kind})`, async () => {
    const handler = vi.fn(async () => "charged");
    const deliver = wrap(open(), handler);
    expect(await deliver(message("a"))).toBe("charged");
    expect(await deliver(message("a"))).toBeUndefined();
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it(`a handler that throws leaves the id unmarked, and what it threw passes through untouched (store ${kind})`, async () => {
    const store = open();
    const thrown: unknown[] = [
      new Error("declined"),
      undefined,
      null,
      0,
      "text",
      { code: "BQ_STORE_FAILED" },
    ];
    for (const error of thrown) {
      const deliver = wrap(store, async () => {
        throw error;
      });
      await expect(deliver(message("a"))).rejects.toBe(error);
    }
    expect(await store.seen("a")).toBe(false);
    expect(await wrap(store, () => "second try")(message("a"))).toBe("second try");
  });
}

it("a handler that throws synchronously rejects the delivery as well", async () => {
  const deliver = wrap(new InMemoryStore(), () => {
    throw new RangeError("sync");
  });
  await expect(deliver(message("a"))).rejects.toThrow(new RangeError("sync"));
});

it("the mark is not there before the handler succeeded", async () => {
  const store = new InMemoryStore();
  const seen: boolean[] = [];
  await wrap(store, () => void seen.push(store.seen("a")))(message("a"));
  expect(seen).toEqual([false]);
  expect(store.seen("a")).toBe(true);
});

it("further arguments and the handler's value pass through", async () => {
  const handler = vi.fn((_message: object, token: string, count: number) => ({ token, count }));
  expect(await wrap(new InMemoryStore(), handler)(message("a"), "token", 3)).toEqual({
    token: "token",
    count: 3,
  });
});

it("the message is handed over as it is, and frozen ones are fine", async () => {
  const sent = Object.freeze({ meta: Object.freeze({ id: "a" }), data: Object.freeze({ n: 1 }) });
  let received: unknown;
  await wrap(new InMemoryStore(), (given: typeof sent) => {
    received = given;
  })(sent);
  expect(received).toBe(sent);
});

it("the id is read once, before the handler, which may change the message", async () => {
  const store = new InMemoryStore();
  let reads = 0;
  const sent = {
    meta: {
      get id() {
        reads += 1;
        return "a";
      },
    } as { id: string },
  };
  await wrap(store, (given: typeof sent) => {
    Object.defineProperty(given.meta, "id", { value: "b" });
  })(sent);
  expect(reads).toBe(1);
  expect([store.seen("a"), store.seen("b")]).toEqual([true, false]);
});

it("ids are compared verbatim: neither trimmed nor folded nor normalised", async () => {
  const handler = vi.fn();
  const deliver = wrap(new InMemoryStore(), handler);
  const ids = [
    "id",
    "ID",
    " id",
    "id ",
    "\u00e9",
    "e\u0301",
    "__proto__",
    "\ud800",
    "\ud801",
    "\ufffd",
    "i\0d",
  ];
  for (const id of [...ids, ...ids]) await deliver(message(id));
  expect(handler).toHaveBeenCalledTimes(ids.length);
});

it("messages that share a trace_id are different messages", async () => {
  const handler = vi.fn();
  const deliver = wrap(new InMemoryStore(), handler);
  await deliver({ ...message("a"), trace_id: "t" });
  await deliver({ ...message("b"), trace_id: "t" });
  expect(handler).toHaveBeenCalledTimes(2);
});

it("Wrap is the same function under its name in the BabelQueue specification", () => {
  expect(Wrap).toBe(wrap);
});
