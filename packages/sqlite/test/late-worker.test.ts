import type { Claim } from "@bq/idempotency-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { SqliteStore } from "../src/index.ts";
import { openDatabase, openStore, temporaryFile } from "./support/temporary.ts";

let early: SqliteStore;
let successor: SqliteStore;
let third: SqliteStore;
let lost: Claim;
let held: Claim;

async function claimed(store: SqliteStore): Promise<Claim> {
  const result = await store.claim("a", 60_000);
  if (result.status !== "claimed") throw new Error(`The claim found ${result.status}.`);
  return result.claim;
}

/** The first worker's lease lapses while its handler runs, and another worker takes the id. */
beforeEach(async () => {
  const path = temporaryFile();
  [early, successor, third] = [await openStore(path), await openStore(path), await openStore(path)];
  lost = await claimed(early);
  openDatabase(path).exec("UPDATE babelqueue_idempotency SET claimed_until = claimed_until - 60000");
  held = await claimed(successor);
});

describe("a late worker", () => {
  it("that fails cannot release the claim of its successor", async () => {
    expect(await early.release(lost)).toBe(false);
    expect(await third.claim("a", 60_000)).toMatchObject({ status: "in-flight" });
    expect(await successor.renew(held, 60_000)).toBe(true);
  });

  it("that succeeds learns that its claim was lost, and its mark stays", async () => {
    expect(await early.commit(lost)).toBe(false);
    expect(await third.seen("a")).toBe(true);
    expect(await successor.release(held)).toBe(false);
    expect(await third.seen("a")).toBe(true);
    expect(await successor.commit(held)).toBe(false);
    expect(await third.claim("a", 60_000)).toEqual({ status: "processed" });
  });

  it("cannot renew, nor shorten the lease of its successor", async () => {
    expect(await early.renew(lost, 1)).toBe(false);
    const parked = await third.claim("a", 60_000);
    expect(parked.status === "in-flight" && parked.retryAfterMs).toBeGreaterThan(10_000);
  });
});
