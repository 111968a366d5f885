import type { Claim, ClaimResult } from "@bq/idempotency-core";
import { maxTimerMs, newToken, requireClaim, requireInteger, storageKey } from "@bq/idempotency-core/backend";
import { sqlStateOf } from "./sqlstate.ts";
import type { Table } from "./table.ts";
import { takeId } from "./taking.ts";

/** The claims in a table: who is processing an id now, and until when. */
export class Claims {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async claim(id: string, leaseMs: number): Promise<ClaimResult> {
    const key = storageKey(id);
    requireLease(leaseMs);
    const claim: Claim = { id, token: newToken() };
    const parameters = [key, claim.token, String(leaseMs)];
    try {
      const found = await takeId("claim", id, () =>
        this.#table.ask({ operation: "claim", id, statement: "claim", parameters }),
      );
      return found.status === "taken" ? { status: "claimed", claim } : found;
    } catch (error) {
      // The answer was lost, not the claim: nobody would hold the id, and nobody else could, until the lease is over.
      if (sqlStateOf(error) === undefined) this.release(claim).catch(() => {});
      throw error;
    }
  }

  renew(claim: Claim, leaseMs: number): Promise<boolean> {
    return this.#isOurs("renew", claim, () => {
      requireLease(leaseMs);
      return [String(leaseMs)];
    });
  }

  commit(claim: Claim): Promise<boolean> {
    return this.#isOurs("commit", claim, () => [this.#table.ttl]);
  }

  release(claim: Claim): Promise<boolean> {
    return this.#isOurs("release", claim, () => []);
  }

  /** Runs a statement on a claim; it answers whether the claim was still ours. */
  async #isOurs(
    statement: "renew" | "commit" | "release",
    claim: Claim,
    further: () => (string | null)[],
  ): Promise<boolean> {
    requireClaim(claim);
    const { id, token } = claim;
    const answer = await this.#table.ask({
      operation: statement,
      id,
      statement,
      parameters: [storageKey(id), token, ...further()],
    });
    return answer === "1";
  }
}

function requireLease(leaseMs: unknown): void {
  requireInteger("leaseMs", leaseMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
}
