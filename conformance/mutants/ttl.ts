import type { Claim } from "@bq/idempotency-core";
import { CorrectStore } from "./correct-store.ts";
import type { Entry } from "./database.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** Writes marks of another lifetime. */
function livesFor(
  does: string,
  caughtBy: string | readonly string[],
  lifetimeMs: (ttlMs: number) => number,
): Mutant {
  return mutant(
    does,
    caughtBy,
    class extends CorrectStore {
      override newMark(): Entry {
        return { until: this.database.nowMs + lifetimeMs(this.ttlMs) };
      }
    },
  );
}

/** Leaves a mark that is there as it is, with the TTL that it has. */
class KeepsTheFirstTtl extends CorrectStore {
  override mark(id: string): void {
    if (!this.isMarked(id)) super.mark(id);
  }
}

export const ttlMutants: readonly Mutant[] = [
  livesFor("ignores the TTL", ["ttl/expires", "ttl/wrap", "ttl/batch"], () => Number.POSITIVE_INFINITY),
  livesFor("reads the TTL as seconds", "ttl/expires", (ttlMs) => ttlMs * 1_000),
  livesFor("reads the TTL as microseconds", ["ttl/lives", "ttl/batch"], (ttlMs) => ttlMs / 1_000),
  livesFor("gives marks without a TTL a day", "ttl/none", (ttlMs) => Math.min(ttlMs, 86_400_000)),
  mutant(
    "lets a mark live on while it is asked for",
    "ttl/expires",
    class extends CorrectStore {
      override isMarked(id: string): boolean {
        const marked = super.isMarked(id);
        if (marked) this.mark(id);
        return marked;
      }
    },
  ),
  mutant(
    "cannot write a mark again that has expired",
    "ttl/again",
    class extends CorrectStore {
      override mark(id: string): void {
        if (this.database.entries.get(this.key(id))?.token !== undefined) this.drop(id);
        if (!this.database.entries.has(this.key(id))) super.mark(id);
      }
    },
  ),
  mutant("keeps the first TTL of a mark", ["ttl/restarts", "ttl/batch-restarts"], KeepsTheFirstTtl),
  mutant(
    "keeps the first TTL of marks in a batch",
    "ttl/batch-restarts",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        const fresh = await this.ask(() => ids.filter((id) => !this.isMarked(id)));
        return super.rememberMany(fresh);
      }
    },
  ),
  mutant(
    "drops all marks when the oldest expires",
    "ttl/each",
    class extends CorrectStore {
      override isMarked(id: string): boolean {
        const { entries, nowMs } = this.database;
        if ([...entries.values()].some(({ until }) => until <= nowMs)) entries.clear();
        return super.isMarked(id);
      }
    },
  ),
  mutant(
    "writes marks without a TTL in a batch",
    "ttl/batch",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        return this.ask(() => {
          for (const id of ids) this.database.entries.set(this.key(id), { until: Number.POSITIVE_INFINITY });
        });
      }
    },
  ),
  mutant(
    "counts the TTL of a commit from its claim",
    "ttl/commit",
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        return this.ask(() => {
          const ours = this.held(claim.id);
          const takenAt = (ours?.until ?? 0) - 600_000;
          this.database.entries.set(this.key(claim.id), { until: takenAt + this.ttlMs });
          return ours?.token === claim.token;
        });
      }
    },
  ),
  mutant(
    "commits without a TTL",
    "ttl/commit",
    class extends CorrectStore {
      override async commit(claim: Claim): Promise<boolean> {
        return this.ask(() => {
          const ours = this.owns(claim);
          this.database.entries.set(this.key(claim.id), { until: Number.POSITIVE_INFINITY });
          return ours;
        });
      }
    },
  ),
  mutant(
    "lets no claim live longer than a mark",
    "ttl/lease",
    class extends CorrectStore {
      override hold(claim: Claim, leaseMs: number): void {
        super.hold(claim, Math.min(leaseMs, this.ttlMs));
      }
    },
  ),
];
