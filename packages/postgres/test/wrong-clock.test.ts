import { faketime } from "@bq/idempotency-test-servers";
import { expect, it } from "vitest";
import { freshName, openStore, sharedUrl } from "./support/database.ts";
import { WorkerProcess } from "./support/worker-process.ts";

it("a worker whose clock is a day ahead or behind neither shortens nor prolongs anything", async () => {
  const table = freshName();
  const store = await openStore({ table, ttlMs: 60_000 });
  await store.remember("ours");
  await store.claim("held", 60_000);
  for (const offset of ["+1d", "-1d"]) {
    const worker = new WorkerProcess("skewed", [sharedUrl, table, offset], await faketime(offset));
    const report = await worker.receive<Record<string, unknown>>();
    expect(Math.abs((report.clock as number) - Date.now())).toBeGreaterThan(23 * 3_600_000);
    expect(report).toMatchObject({ seen: true, held: "in-flight", purged: 0, own: true, claimed: "claimed" });
    expect(await store.seen(`mark-${offset}`)).toBe(true);
    const parked = await store.claim(`claim-${offset}`, 1);
    expect(parked).toMatchObject({ status: "in-flight", retryAfterMs: expect.closeTo(60_000, -5) });
    expect(await store.seen(`brief-${offset}`)).toBe(false);
  }
  expect(await store.purge()).toBe(2);
  expect(await store.seen("ours")).toBe(true);
});
