import type { Kind } from "./contestant.ts";
import { type Cell, findCell } from "./results.ts";
import { ratio, type Spread } from "./statistics.ts";

/** How many times as fast as another contestant one of ours should be. */
export interface Goal {
  readonly contestant: string;
  readonly against: string;
  readonly atLeast: number;
  readonly concurrencies: readonly number[];
  readonly kinds: readonly Kind[];
}

export interface GoalOutcome {
  readonly contestant: string;
  readonly against: string;
  readonly atLeast: number;
  readonly concurrency: number;
  readonly kind: Kind;
  readonly reached: Spread;
  readonly met: boolean;
}

const both: readonly Kind[] = ["first", "duplicate"];

function goal(
  contestant: string,
  against: string,
  atLeast: number,
  concurrencies: readonly number[],
  kinds: readonly Kind[] = both,
): Goal {
  return { contestant, against, atLeast, concurrencies, kinds };
}

export const goals: readonly Goal[] = [
  goal("postgres/wrap", "postgres/plain", 5, [64, 256]),
  goal("postgres/wrap", "postgres/plain", 0.95, [1]),
  goal("postgres/wrapClaiming", "postgres/plain", 5, [64, 256]),
  goal("postgres/wrapClaiming", "postgres/plain", 0.95, [1]),
  goal("postgres/wrapBatch", "postgres/plain", 20, [1]),
  goal("sqlite/wrap", "sqlite/plain", 8, [64], ["first"]),
  goal("sqlite/wrap", "sqlite/plain", 0.95, [1]),
  goal("redis/wrap", "redis/plain", 2, [64]),
  goal("redis/wrap", "redis/plain", 3, [256]),
  goal("redis/wrap", "redis/plain", 0.9, [1]),
  goal("redis/wrapClaiming", "redis/plain", 1, [64, 256]),
  goal("redis/wrap", "redis/powertools", 4, [64, 256]),
  // For a duplicate it only looks, as the plain store does, which has a goal of its own.
  goal("redis/wrap", "redis/redis-semaphore", 4, [64, 256], ["first"]),
  goal("redis/wrapClaiming", "redis/powertools", 4, [64, 256]),
  goal("redis/wrapClaiming", "redis/redis-semaphore", 4, [64, 256], ["first"]),
];

/** Every goal that these figures can answer, for each concurrency and kind. */
export function judge(cells: readonly Cell[]): GoalOutcome[] {
  return goals.flatMap(({ contestant, against, atLeast, concurrencies, kinds }) =>
    concurrencies.flatMap((concurrency) =>
      kinds.flatMap((kind) => {
        const ours = findCell(cells, contestant, concurrency, kind);
        const theirs = findCell(cells, against, concurrency, kind);
        if (!ours || !theirs) return [];
        const reached = ratio(ours.perSecond.rounds, theirs.perSecond.rounds);
        const met = reached.median >= atLeast;
        return [{ contestant, against, atLeast, concurrency, kind, reached, met }];
      }),
    ),
  );
}
