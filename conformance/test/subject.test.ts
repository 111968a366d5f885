import { InMemoryStore } from "@bq/idempotency-core";
import { describe, expect, it } from "vitest";
import { allCases, contractCases, leftOutCases, type Subject } from "../src/index.ts";

const open = () => new InMemoryStore();

describe("a subject is refused that", () => {
  it.for<[string, unknown, RegExp]>([
    ["is none", undefined, /must be an object with a name and open\(\), got undefined/],
    ["has no name", { open }, /name must be a non-empty string, got undefined/],
    ["has no open", { name: "s" }, /Subject "s": open must be a function, got undefined/],
    [
      "has a destroy that cannot be called",
      { name: "s", open, destroy: 1 },
      /destroy must be a function, got 1/,
    ],
    [
      "has a property that nobody reads",
      { name: "s", open, capabilites: [] },
      /unknown property "capabilites"/,
    ],
    [
      "has capabilities that are no list",
      { name: "s", open, capabilities: "ttl" },
      /must be an array, got "ttl"/,
    ],
    ["has an unknown capability", { name: "s", open, capabilities: ["tll"] }, /unknown capability "tll"/],
    [
      "has transactions without hooks",
      { name: "s", open, capabilities: ["transactions"] },
      /only one of them is there/,
    ],
    [
      "has hooks without transactions",
      { name: "s", open, transactions: { work: "sync" } },
      /only one of them is there/,
    ],
    [
      "has hooks for no kind of work",
      { name: "s", open, capabilities: ["transactions"], transactions: {} },
      /work must be "sync" or "async", got undefined/,
    ],
    [
      "lacks a hook",
      { name: "s", open, capabilities: ["transactions"], transactions: { work: "sync" } },
      /transactions.write must be a function/,
    ],
    [
      "has a deadline of nothing",
      { name: "s", open, deadlineMs: 0 },
      /deadlineMs must be a positive number of milliseconds, got 0/,
    ],
  ])("%s", ([, subject, message]) => {
    expect(() => contractCases(subject as Subject)).toThrow(TypeError);
    expect(() => contractCases(subject as Subject)).toThrow(message);
  });
});

describe("the cases of a subject", () => {
  it("are those that its capabilities call for, and all others are left out with what they miss", () => {
    const subject: Subject = { name: "s", open, capabilities: ["batch"] };
    const cases = contractCases(subject);
    const leftOut = leftOutCases(subject);
    expect(new Set(cases.map(({ group }) => group))).toEqual(new Set(["seen-set", "ids", "batch"]));
    expect(cases.length + leftOut.length).toBe(allCases.length);
    expect(leftOut.find(({ id }) => id === "ttl/batch")?.missing).toEqual(["ttl"]);
    expect(leftOut.find(({ id }) => id === "ttl/commit")?.missing).toEqual(["ttl", "claims"]);
  });

  it("have ids that are unique and begin with their group", () => {
    expect(new Set(allCases.map(({ id }) => id)).size).toBe(allCases.length);
    for (const { id, group } of allCases) expect(id.startsWith(`${group}/`)).toBe(true);
  });

  it("have titles that are unique in their group", () => {
    expect(new Set(allCases.map(({ group, title }) => `${group} ${title}`)).size).toBe(allCases.length);
  });

  it("each get a namespace of their own, and every handle of a case gets the same", async () => {
    const namespaces: string[][] = [];
    const subject: Subject = {
      name: "s",
      provision: ({ namespace }) => {
        namespaces.push([namespace]);
        return new InMemoryStore();
      },
      open: ({ namespace, backend }) => {
        namespaces.at(-1)?.push(namespace);
        const store = backend as InMemoryStore;
        return {
          seen: (id) => store.seen(id),
          remember: (id) => store.remember(id),
          forget: (id) => store.forget(id),
        };
      },
    };
    for (const contractCase of contractCases(subject)) await contractCase.run(subject);
    for (const [first, ...rest] of namespaces) {
      expect(first).toMatch(/^[a-z][a-z0-9]{23}$/);
      for (const again of rest) expect(again).toBe(first);
    }
    expect(new Set(namespaces.map(([first]) => first)).size).toBe(namespaces.length);
  });

  it("without the capability ttl are never given a TTL", async () => {
    const ttls = new Set<unknown>();
    const subject: Subject = {
      name: "s",
      capabilities: ["batch", "claims"],
      open: ({ ttlMs }) => {
        ttls.add(ttlMs);
        throw new Error("enough");
      },
    };
    for (const { run } of contractCases(subject)) await run(subject).catch(() => {});
    expect(ttls).toEqual(new Set([undefined]));
  });
});
