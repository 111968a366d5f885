import { randomUUID } from "node:crypto";
import { show } from "./options.ts";
import { requireId } from "./storage-key.ts";
import type { Claim } from "./store.ts";

/** A token that no other claim has: a random UUID. */
export function newToken(): string {
  return randomUUID();
}

/** Throws `TypeError` unless this is a claim: a usable id and a token. */
export function requireClaim(claim: unknown): asserts claim is Claim {
  const { id, token } = (claim ?? {}) as Partial<Claim>;
  requireId(id);
  if (typeof token !== "string" || token.length === 0) {
    throw new TypeError(`A claim must carry the token that claim() gave it, got ${show(token)}.`);
  }
}
