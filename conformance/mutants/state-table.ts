import type { Claim, ClaimResult } from "@bq/idempotency-core";
import type { Call, State } from "../src/cases/state-table.ts";
import { stateTable } from "../src/cases/state-table.ts";
import { CorrectStore } from "./correct-store.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** A store that keeps every cell of the state table but one. */
function wrongIn(badState: State, badCall: Call): typeof CorrectStore {
  return class extends CorrectStore {
    /** Is this the call that goes wrong? */
    #isWrong(call: Call, id: string, claim?: Claim): boolean {
      return call === badCall && this.#stateOf(id, claim) === badState;
    }

    #stateOf(id: string, claim: Claim | undefined): State {
      const entry = this.database.entries.get(this.key(id));
      if (!entry) return "absent";
      const live = this.isLive(entry);
      if (entry.token === undefined) return live ? "marked" : "expired";
      if (!live) return "lapsed";
      const ours = claim ? claim.token === entry.token : entry.holder === this;
      return ours ? "ours" : "another's";
    }

    override async seen(id: string): Promise<boolean> {
      return this.ask(() => this.isMarked(id) !== this.#isWrong("seen", id));
    }

    override async remember(id: string): Promise<void> {
      return this.ask(() => {
        if (!this.#isWrong("remember", id)) this.mark(id);
        // Leaving a mark where one is would be right.
        else if (badState === "marked") this.drop(id);
      });
    }

    override async forget(id: string): Promise<void> {
      return this.ask(() => {
        if (!this.#isWrong("forget", id)) this.drop(id);
        else if (stateTable[badState].seen[0] === false && !this.held(id)) this.mark(id);
      });
    }

    override tryClaim(id: string, leaseMs: number): ClaimResult {
      if (!this.#isWrong("claim", id)) return super.tryClaim(id, leaseMs);
      if (!this.isMarked(id) && !this.held(id)) return { status: "in-flight", retryAfterMs: 1 };
      this.drop(id);
      return super.tryClaim(id, leaseMs);
    }

    override async renew(claim: Claim, leaseMs: number): Promise<boolean> {
      if (await this.ask(() => this.#isWrong("renew", claim.id, claim))) return badState !== "ours";
      return super.renew(claim, leaseMs);
    }

    override async commit(claim: Claim): Promise<boolean> {
      if (!this.#isWrong("commit", claim.id, claim)) return super.commit(claim);
      return this.ask(() => {
        if (badState === "ours") this.mark(claim.id);
        return badState === "marked";
      });
    }

    override async release(claim: Claim): Promise<boolean> {
      if (!this.#isWrong("release", claim.id, claim)) return super.release(claim);
      return this.ask(() => {
        if (badState === "another's" || badState === "marked") this.drop(claim.id);
        return badState !== "another's" && badState !== "marked";
      });
    }
  };
}

const states = Object.keys(stateTable) as State[];
const calls = Object.keys(stateTable.absent) as Call[];

/** One for every cell. */
export const stateTableMutants: readonly Mutant[] = states.flatMap((state) =>
  calls.map((call) =>
    mutant(
      `is wrong in one cell of the state table: ${call}, ${state}`,
      `claims/${state.replace("'", "")}-${call}`,
      wrongIn(state, call),
    ),
  ),
);
