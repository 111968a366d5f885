import type { Claim, ClaimResult } from "@bq/idempotency-core";
import { CorrectStore } from "./correct-store.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** Takes the place in the process for the token. */
class ClaimsByHandle extends CorrectStore {
  override async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    if (await this.ask(() => this.held(claim.id)?.holder !== this)) return false;
    return super.renew(claim, leaseMs);
  }
}

/** Answers `in-flight` with whatever it makes of the lease. */
function tellsRetryAfter(does: string, retryAfterMs: (remainingMs: number) => unknown): Mutant {
  return mutant(
    does,
    "claims/retry-after",
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const result = super.tryClaim(id, leaseMs);
        if (result.status !== "in-flight") return result;
        return { ...result, retryAfterMs: retryAfterMs(result.retryAfterMs) as number };
      }
    },
  );
}

let guessable = 0;

export const claimMutants: readonly Mutant[] = [
  mutant(
    "gives every claim on an id the same token",
    "claims/tokens",
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const result = super.tryClaim(id, leaseMs);
        if (result.status !== "claimed") return result;
        const claim = { id, token: `token of ${id}` };
        this.hold(claim, leaseMs);
        return { status: "claimed", claim };
      }
    },
  ),
  mutant(
    "gives tokens that can be guessed",
    "claims/tokens",
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const result = super.tryClaim(id, leaseMs);
        if (result.status !== "claimed") return result;
        const claim = { id, token: String(++guessable) };
        this.hold(claim, leaseMs);
        return { status: "claimed", claim };
      }
    },
  ),
  mutant(
    "compares only the beginning of a token",
    "claims/made-up-token",
    class extends CorrectStore {
      override owns({ id, token }: Claim): boolean {
        return this.held(id)?.token.startsWith(token) ?? false;
      }
    },
  ),
  mutant(
    "releases without checking the token",
    ["claims/made-up-token", "races/late-release"],
    class extends CorrectStore {
      override async release({ id }: Claim): Promise<boolean> {
        return this.ask(() => {
          const held = this.held(id) !== undefined;
          if (held) this.drop(id);
          return held;
        });
      }
    },
  ),
  mutant(
    "finds a claim by its token alone",
    "claims/token-of-another-id",
    class extends CorrectStore {
      override owns({ token }: Claim): boolean {
        return [...this.database.entries.values()].some(
          (entry) => this.isLive(entry) && entry.token === token,
        );
      }
    },
  ),
  tellsRetryAfter("tells how long to wait in seconds", (remainingMs) => remainingMs / 1_000),
  tellsRetryAfter("tells no time to wait", () => undefined),
  tellsRetryAfter(
    "tells when the lease is over instead of how long it lasts",
    (remainingMs) => Date.now() + remainingMs,
  ),
  mutant(
    "ignores the lease",
    ["claims/lapses", "races/crashed"],
    class extends CorrectStore {
      override hold(claim: Claim, _leaseMs: number): void {
        super.hold(claim, Number.POSITIVE_INFINITY);
      }
    },
  ),
  mutant(
    "lets those who ask keep a claim alive",
    "claims/lapses",
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const held = this.held(id);
        if (held) this.hold({ id, token: held.token }, leaseMs);
        return super.tryClaim(id, leaseMs);
      }
    },
  ),
  mutant(
    "adds the renewed lease to the old one",
    "claims/renew-restarts",
    class extends CorrectStore {
      override async renew(claim: Claim, leaseMs: number): Promise<boolean> {
        const remainingMs = (this.held(claim.id)?.until ?? 0) - this.database.nowMs;
        return super.renew(claim, leaseMs + Math.max(0, remainingMs));
      }
    },
  ),
  mutant(
    "renews nothing and says it did",
    ["claims/renew-restarts"],
    class extends CorrectStore {
      override async renew(claim: Claim, _leaseMs: number): Promise<boolean> {
        return this.ask(() => this.owns(claim));
      }
    },
  ),
  mutant(
    "drops every lapsed claim's neighbours",
    "claims/each-lease",
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const { entries, nowMs } = this.database;
        if ([...entries.values()].some(({ until }) => until <= nowMs)) entries.clear();
        return super.tryClaim(id, leaseMs);
      }
    },
  ),
  mutant("lets only the handle that claimed an id settle it", "claims/closed-handle", ClaimsByHandle),
  mutant(
    "drops its claims when it is closed",
    ["claims/closed-handle", "races/crashed"],
    class extends CorrectStore {
      async close(): Promise<void> {
        const { entries } = this.database;
        for (const [key, { holder }] of entries) if (holder === this) entries.delete(key);
      }
    },
  ),
  mutant(
    "accepts any lease",
    "claims/bad-lease",
    class extends CorrectStore {
      override requireLease(): void {}
    },
  ),
  mutant(
    "reads a lease of zero as no lease",
    "claims/bad-lease",
    class extends CorrectStore {
      override requireLease(leaseMs: number): void {
        if (leaseMs !== 0) super.requireLease(leaseMs);
      }
    },
  ),
];
