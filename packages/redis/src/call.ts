import type { Claim } from "@bq/idempotency-core";
import {
  claimValue,
  drop,
  dropClaim,
  isClaimValue,
  mark,
  type Request,
  read,
  renewClaim,
  takeClaim,
  write,
} from "./commands.ts";
import { unknownValue } from "./explain.ts";

/** One operation on one id, as a caller asked for it. */
export type Call = {
  readonly id: string;
  readonly key: string;
  /** When the caller asked, by `performance.now`: its time limit and its lease count from here. */
  readonly madeAt: number;
} & (
  | { readonly operation: "seen" | "remember" | "forget" }
  | { readonly operation: "claim"; readonly claim: Claim; readonly leaseMs: number }
  | { readonly operation: "renew"; readonly claim: Claim; readonly leaseMs: number }
  | { readonly operation: "commit" | "release"; readonly claim: Claim }
);

/**
 * What the server found, told in the same words whether the call was sent alone or with others:
 *
 * - `yes`, `no`: is there a mark (`seen`), was it done (`remember`, `forget`), was the claim ours (`renew`, `release`)
 * - `ours`, `mark`: our own claim was there, which for `claim` means that we have it now, or a mark was (`claim`, `commit`)
 * - `other`: neither was there (`commit`)
 * - a number: the milliseconds that another's claim has left (`claim`)
 */
export type Answer = string;

/** The command for a call that is sent alone. */
export function requestOf(call: Call, ttlMs: number | undefined): Request {
  switch (call.operation) {
    case "seen":
      return read(call.key);
    case "remember":
    case "commit":
      return write(call.key, ttlMs);
    case "forget":
      return drop(call.key);
    case "claim":
      return takeClaim(call.key, call.claim.token, call.leaseMs);
    case "renew":
      return renewClaim(call.key, call.claim.token, call.leaseMs);
    case "release":
      return dropClaim(call.key, call.claim.token);
  }
}

/** Reads the reply to a call that was sent alone; throws when the key holds something unknown. */
export function answerOf(call: Call, reply: unknown): Answer {
  switch (call.operation) {
    case "seen":
      return isMark(reply, "seen", call.id) ? "yes" : "no";
    case "remember":
    case "forget":
      return "yes";
    case "claim":
      return foundByClaim(call, reply);
    case "commit":
      if (reply === mark) return "mark";
      return reply === claimValue(call.claim.token) ? "ours" : "other";
    case "renew":
    case "release":
      return Number(reply) === 1 ? "yes" : "no";
  }
}

function foundByClaim({ id, claim }: Call & { operation: "claim" }, reply: unknown): Answer {
  const [value, leftMs] = Array.isArray(reply) ? reply : [reply, undefined];
  // A command whose answer was lost is sent again, so the claim in the way may be our own.
  if (value === null || value === claimValue(claim.token)) return "ours";
  if (value === mark) return "mark";
  // A claim without a lease would never lapse: we do not write such.
  if (typeof value === "string" && isClaimValue(value) && Number(leftMs) >= 0) return String(leftMs);
  throw unknownValue(value, "claim", id);
}

/** Is this value a mark? A claim or no value is none; anything else is not for us to judge. */
export function isMark(value: unknown, operation: string, id: string): boolean {
  if (value === mark) return true;
  if (value === null || (typeof value === "string" && isClaimValue(value))) return false;
  throw unknownValue(value, operation, id);
}
