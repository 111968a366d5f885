import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { InMemoryStore, wrap, wrapBatch, wrapClaiming } from "../src/index.ts";
import { message, remote } from "./stores.ts";

it("the handler and the observer run in the async context of their delivery", async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const note = () => void seen.push(context.getStore());
  const deliveries: (() => Promise<unknown>)[] = [
    () => wrap(remote(), note, { observe: note })(message("a")),
    () => wrapClaiming(new InMemoryStore(), note, { observe: note })(message("a")),
    () => wrapBatch(remote(), note, { observe: note, concurrency: 4 })([message("a")]),
  ];
  for (const [n, deliver] of deliveries.entries()) await context.run(`delivery ${n}`, deliver);
  expect(seen).toEqual([0, 0, 1, 1, 2, 2].map((n) => `delivery ${n}`));
});
