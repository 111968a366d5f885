import type { Claim, ClaimResult } from "@bq/idempotency-core";
import { CorrectStore } from "./correct-store.ts";
import type { Entry } from "./database.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** Asks whether the id is free, and comes back later to take it. */
function readsThenWrites(
  does: string,
  caughtBy: readonly string[],
  when: (old: Entry | undefined) => boolean,
): Mutant {
  return mutant(
    does,
    caughtBy,
    class extends CorrectStore {
      override async claim(id: string, leaseMs: number): Promise<ClaimResult> {
        const old = await this.ask(() => this.database.entries.get(this.key(id)));
        if (this.isLive(old) || !when(old)) return super.claim(id, leaseMs);
        return this.ask(() => {
          this.drop(id);
          return this.tryClaim(id, leaseMs);
        });
      }
    },
  );
}

/** Lets concurrent claims of one id share a request, and so its answer. */
class SharesAnswers extends CorrectStore {
  readonly #pending = new Map<string, Promise<ClaimResult>>();

  override async claim(id: string, leaseMs: number): Promise<ClaimResult> {
    const pending = this.#pending.get(id) ?? super.claim(id, leaseMs);
    this.#pending.set(id, pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(id);
    }
  }
}

export const raceMutants: readonly Mutant[] = [
  readsThenWrites(
    "claims by reading and then writing",
    ["races/claim", "races/workers"],
    (old) => old === undefined,
  ),
  readsThenWrites(
    "takes a lapsed claim over by reading and then writing",
    ["races/claim-lapsed"],
    (old) => old?.token !== undefined,
  ),
  readsThenWrites(
    "replaces an expired mark by reading and then writing",
    ["races/claim-expired"],
    (old) => old !== undefined && old.token === undefined,
  ),
  mutant("lets concurrent claims share an answer", ["races/many-ids", "races/claim"], SharesAnswers),
  mutant(
    "keeps claims in each handle",
    ["races/workers", "races/claim"],
    class extends CorrectStore {
      override key(id: string): string {
        return id;
      }
      override held(id: string): (Entry & { token: string }) | undefined {
        const held = super.held(id);
        return held?.holder === this ? held : undefined;
      }
    },
  ),
  mutant(
    "remembers only what nobody has claimed meanwhile",
    "races/remember",
    class extends CorrectStore {
      override async remember(id: string): Promise<void> {
        this.requireId(id);
        const free = await this.ask(() => !this.held(id));
        await this.ask(() => {
          if (!free || !this.held(id)) this.mark(id);
        });
      }
    },
  ),
  mutant(
    "forgets in two steps, the mark and then the claim",
    "races/forget",
    class extends CorrectStore {
      override async forget(id: string): Promise<void> {
        await super.forget(id);
        await super.forget(id);
      }
    },
  ),
  mutant(
    "commits in two steps, dropping the claim and then writing the mark",
    "races/commit",
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        const ours = await this.ask(() => {
          const owned = this.owns(claim);
          this.drop(claim.id);
          return owned;
        });
        await this.ask(() => this.mark(claim.id));
        return ours;
      }
    },
  ),
  mutant(
    "looks whether a claim is its own, and settles it later",
    "races/settle-once",
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        const ours = await this.ask(() => this.owns(claim));
        await this.ask(() => this.mark(claim.id));
        return ours;
      }
    },
  ),
  mutant(
    "sends a release twice",
    "races/release",
    class extends CorrectStore {
      override async release(claim: Claim): Promise<boolean> {
        const ours = await super.release(claim);
        if (ours) await this.ask(() => this.drop(claim.id));
        return ours;
      }
    },
  ),
  mutant(
    "renews by looking for its token and then writing",
    "races/lapse",
    class extends CorrectStore {
      override async renew(claim: Claim, leaseMs: number): Promise<boolean> {
        const entry = await this.ask(() => this.database.entries.get(this.key(claim.id)));
        if (entry?.token !== claim.token) return false;
        await this.ask(() => this.hold(claim, leaseMs));
        return true;
      }
    },
  ),
  mutant(
    "revives a lapsed claim",
    "claims/lapsed-renew",
    class extends CorrectStore {
      override owns({ id, token }: Claim): boolean {
        return this.database.entries.get(this.key(id))?.token === token;
      }
    },
  ),
  mutant(
    "renews whatever claim is there",
    "races/late-renew",
    class extends CorrectStore {
      override async renew(claim: Claim, leaseMs: number): Promise<boolean> {
        return this.ask(() => {
          const held = this.held(claim.id);
          if (held) this.hold({ id: claim.id, token: held.token }, leaseMs);
          return held?.token === claim.token;
        });
      }
    },
  ),
  mutant(
    "does not mark what a late worker commits",
    "races/late-commit",
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        return this.ask(() => {
          const ours = this.owns(claim);
          if (ours) this.mark(claim.id);
          return ours;
        });
      }
    },
  ),
  mutant(
    "marks nothing on commit",
    ["races/late-commit", "races/commit", "races/wrap-claiming"],
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        return super.release(claim);
      }
    },
  ),
  mutant(
    "releases a mark",
    ["races/late-after-commit", "races/late-commit"],
    class extends CorrectStore {
      override async release(claim: Claim): Promise<boolean> {
        return this.ask(() => {
          const ours = this.owns(claim);
          if (ours || this.isMarked(claim.id)) this.drop(claim.id);
          return ours;
        });
      }
    },
  ),
  mutant(
    "takes a lapsed claim for processed",
    ["races/crashed", "claims/lapses"],
    class extends CorrectStore {
      override tryClaim(id: string, leaseMs: number): ClaimResult {
        const entry = this.database.entries.get(this.key(id));
        if (entry?.token !== undefined && !this.isLive(entry)) return { status: "processed" };
        return super.tryClaim(id, leaseMs);
      }
    },
  ),
  mutant(
    "takes an id in flight for seen",
    "races/wrap-claiming",
    class extends CorrectStore {
      override async seen(id: string): Promise<boolean> {
        return this.ask(() => this.isLive(this.database.entries.get(this.key(id))));
      }
    },
  ),
  mutant(
    "forgets to release",
    "races/wrap-claiming",
    class extends CorrectStore {
      override async release(claim: Claim): Promise<boolean> {
        return this.ask(() => this.owns(claim));
      }
    },
  ),
];
