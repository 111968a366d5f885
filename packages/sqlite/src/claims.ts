import type { Claim, ClaimResult } from "@bq/idempotency-core";
import { newToken } from "@bq/idempotency-core/backend";
import type { Connection } from "./connection.ts";
import { expiry, look, writeMark } from "./marks.ts";

/** What a claim finds without a lock; `undefined` when the id is free. */
export function standing({ statements }: Connection, key: string): ClaimResult | undefined {
  const state = look(statements, key);
  return state.status === "absent" ? undefined : state;
}

/** Takes the id if it is still free; nobody else writes meanwhile. */
export function claim(connection: Connection, id: string, key: string, leaseMs: number): ClaimResult {
  const found = standing(connection, key);
  if (found !== undefined) return found;
  const token = newToken();
  const now = Date.now();
  const taken = connection.statements.claim.run({ key, now, token, until: now + leaseMs }).changes;
  // The clock was set back since the look, and the statement judges by itself.
  return taken > 0 ? { status: "claimed", claim: { id, token } } : { status: "in-flight", retryAfterMs: 1 };
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
