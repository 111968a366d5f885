import type { Claim, ClaimResult } from "@bq/idempotency-core";
import { newToken } from "@bq/idempotency-core/backend";
import type { Connection } from "./connection.ts";
import { expiry, look, writeMark } from "./marks.ts";

/** How often an id that changes hands under our eyes is looked at again. */
const looks = 3;

/**
 * Looks first and then takes the id if it is free: a redelivery of what is processed or in flight takes no lock and writes
 * nothing. The statement that takes it judges by itself, so what happened since the look cannot give an id to two workers.
 */
export function claim({ statements }: Connection, id: string, key: string, leaseMs: number): ClaimResult {
  for (let round = 0; round < looks; round++) {
    const state = look(statements, key);
    if (state.status !== "absent") return state;
    const token = newToken();
    const now = Date.now();
    const taken = statements.claim.run({ key, now, token, until: now + leaseMs }).changes;
    if (taken > 0) return { status: "claimed", claim: { id, token } };
  }
  return { status: "in-flight", retryAfterMs: 1 };
}

export function renew({ statements }: Connection, { token }: Claim, key: string, leaseMs: number): boolean {
  const now = Date.now();
  return statements.renew.run({ key, now, token, until: now + leaseMs }).changes > 0;
}

/** One statement as long as the claim is ours; the mark of a lost claim, which cannot become ours again, takes a second one. */
export function commit({ statements, settings }: Connection, { token }: Claim, key: string): boolean {
  const now = Date.now();
  const ours = statements.commit.run({ key, now, token, expiresAt: expiry(now, settings) }).changes > 0;
  if (!ours) writeMark(statements, key, settings);
  return ours;
}

export function release({ statements }: Connection, { token }: Claim, key: string): boolean {
  return statements.release.run({ key, now: Date.now(), token }).changes > 0;
}
