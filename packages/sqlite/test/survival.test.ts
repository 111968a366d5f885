import { describe, expect, it } from "vitest";
import { openStore, temporaryFile } from "./support/temporary.ts";
import { WorkerProcess } from "./support/worker-process.ts";

describe("survival", () => {
  it("a mark is there after the store was closed and opened again", async () => {
    const path = temporaryFile();
    const before = await openStore(path);
    await before.remember("once");
    await before.close();
    const after = await openStore(path);
    expect(await after.seen("once")).toBe(true);
  });

  it("every mark that was acknowledged is there after a SIGKILL in the middle of the load", async () => {
    const path = temporaryFile();
    const workers = ["left", "right"].map(
      (name) => new WorkerProcess("remember-until-killed", path, name, "64"),
    );
    const acknowledged: string[] = [];
    for (const worker of workers) {
      for (let count = 0; count < 300; count++) acknowledged.push(await worker.receive<string>());
    }
    for (const worker of workers) {
      await worker.kill();
      acknowledged.push(...worker.received<string>());
    }
    const store = await openStore(path);
    expect(acknowledged.length).toBeGreaterThanOrEqual(600);
    expect(await store.seenMany(acknowledged)).toEqual(acknowledged.map(() => true));
  });

  it("the claim of a killed worker parks its redelivery until the lease is over, and is never taken for a mark", async () => {
    const path = temporaryFile();
    const leaseMs = 1_500;
    const worker = new WorkerProcess("hold-claim", path, "orphan", String(leaseMs));
    expect(await worker.receive()).toMatchObject({ status: "claimed" });
    await worker.kill();

    const store = await openStore(path);
    for (;;) {
      const result = await store.claim("orphan", 60_000);
      expect(await store.seen("orphan")).toBe(false);
      if (result.status === "claimed") break;
      expect(result).toMatchObject({ status: "in-flight" });
      const { retryAfterMs = 0 } = result as { retryAfterMs?: number };
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(retryAfterMs).toBeLessThanOrEqual(leaseMs);
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  });

  it("a worker that is killed inside a transaction leaves neither its effect nor its mark, and no lock", async () => {
    const path = temporaryFile();
    const worker = new WorkerProcess("die-in-transaction", path, "half");
    expect(await worker.receive()).toBe("ready");
    worker.send("go");
    await worker.ended();

    const store = await openStore(path);
    expect(await store.seen("half")).toBe(false);
    const tables = await store.transact("half", (tx) =>
      tx.prepare("SELECT name FROM sqlite_master WHERE name = 'effects'").all(),
    );
    expect(tables).toEqual({ status: "ran", value: [] });
  });
});
