import { setTimeout as pause } from "node:timers/promises";
import { InMemoryStore, type Store } from "@bq/idempotency-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contractCases, type Subject } from "../src/index.ts";

/** Long enough for whatever comes late to have come. */
const deadlineMs = 60;
const never = new Promise<never>(() => {});

const [first] = contractCases({ name: "any", open: () => new InMemoryStore() }).filter(
  ({ id }) => id === "seen-set/absent",
);

function run(subject: Omit<Subject, "name" | "deadlineMs">): Promise<void> {
  const whole: Subject = { name: "s", deadlineMs, ...subject };
  return (first as NonNullable<typeof first>).run(whole);
}

const store = (): Store => {
  const { seen, remember, forget } = InMemoryStore.prototype;
  const backend = new InMemoryStore();
  return { seen: seen.bind(backend), remember: remember.bind(backend), forget: forget.bind(backend) };
};

describe("a case", () => {
  const unhandled: unknown[] = [];
  const listen = (error: unknown) => unhandled.push(error);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", listen);
  });
  afterEach(() => {
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  it("fails when provision never ends", async () => {
    await expect(run({ provision: () => never, open: store })).rejects.toThrow(
      `provision() of s did not end within ${deadlineMs} ms`,
    );
  });

  it("destroys a backend that was provisioned after the deadline", async () => {
    const destroyed: unknown[] = [];
    let provide: (backend: string) => void = () => {};
    const failure = run({
      provision: () => new Promise((resolve) => (provide = resolve)),
      open: store,
      destroy: (backend) => {
        destroyed.push(backend);
        throw new Error("nobody listens any more");
      },
    });
    await expect(failure).rejects.toThrow("did not end");
    expect(destroyed).toEqual([]);
    provide("late");
    await expect.poll(() => destroyed).toEqual(["late"]);
  });

  it("swallows a provision that fails after the deadline", async () => {
    const failing = async () => {
      await pause(deadlineMs * 2);
      throw new Error("late");
    };
    await expect(run({ provision: failing, open: store })).rejects.toThrow("did not end");
    await pause(deadlineMs * 2);
  });

  it("fails when a store never answers, and still closes and destroys", async () => {
    const log: string[] = [];
    const hanging = { ...store(), seen: () => never };
    const failure = run({
      provision: () => "backend",
      open: () => hanging,
      close: () => log.push("closed"),
      destroy: (backend) => log.push(`destroyed ${backend}`),
    });
    await expect(failure).rejects.toThrow(`The case on s did not end within ${deadlineMs} ms`);
    expect(log).toEqual(["closed", "destroyed backend"]);
  });

  it("swallows what a given-up store throws later", async () => {
    let fail: (error: Error) => void = () => {};
    const hanging = { ...store(), seen: () => new Promise<never>((_, reject) => (fail = reject)) };
    await expect(run({ open: () => hanging })).rejects.toThrow("did not end");
    fail(new Error("late"));
    await pause(deadlineMs);
  });

  it("closes a handle that is opened after the deadline", async () => {
    const closed: unknown[] = [];
    const late = store();
    let provide: (opened: Store) => void = () => {};
    const failure = run({
      open: () => new Promise((resolve) => (provide = resolve)),
      close: (handle) => closed.push(handle),
    });
    await expect(failure).rejects.toThrow("did not end");
    provide(late);
    await expect.poll(() => closed).toEqual([late]);
  });

  it("fails when close never ends", async () => {
    await expect(run({ open: store, close: () => never })).rejects.toThrow(
      `Closing the handles of s did not end within ${deadlineMs} ms`,
    );
  });

  it("fails when destroy never ends", async () => {
    await expect(run({ open: store, destroy: () => never })).rejects.toThrow(
      `destroy() of s did not end within ${deadlineMs} ms`,
    );
  });

  it("fails with the first failure when destroying fails as well", async () => {
    const broken = { ...store(), seen: () => Promise.reject(new Error("first")) };
    const failure = run({
      open: () => broken,
      close: () => Promise.reject(new Error("second")),
      destroy: () => Promise.reject(new Error("third")),
    });
    await expect(failure).rejects.toThrow("first");
  });

  it("fails when closing or destroying is all that fails", async () => {
    await expect(run({ open: store, close: () => Promise.reject(new Error("close")) })).rejects.toThrow(
      "close",
    );
    await expect(run({ open: store, destroy: () => Promise.reject(new Error("destroy")) })).rejects.toThrow(
      "destroy",
    );
  });

  it("closes every handle, also when one cannot be closed", async () => {
    let closed = 0;
    const failure = run({
      open: store,
      close: () => {
        closed++;
        throw new Error("stuck");
      },
    });
    await expect(failure).rejects.toThrow("stuck");
    expect(closed).toBe(2);
  });

  it("closes a store by its own close() when the subject says nothing", async () => {
    let closed = 0;
    await run({ open: () => ({ ...store2(), close: () => void closed++ }) as Store });
    expect(closed).toBe(2);
  });

  const shared = store();
  const store2 = () => ({ ...shared });

  it("fails when open gives no store", async () => {
    await expect(run({ open: () => undefined as never })).rejects.toThrow("open() must answer with a store");
  });
});
