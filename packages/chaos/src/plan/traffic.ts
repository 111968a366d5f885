import type { SeededRandom } from "@bq/idempotency-examples/src/log/random.ts";

/** A message, and when its copies are sent: the first is the message, the others are duplicates. */
export interface PlannedMessage {
  readonly id: string;
  /** Milliseconds after the start of the scenario, in order. */
  readonly copiesAtMs: readonly number[];
  /** How long its handler works before the effect, in milliseconds. */
  readonly workMs: number;
  /** Its handler throws, before any effect, on the first attempt. */
  readonly failsFirst: boolean;
}

/** Plans the messages of a scenario, spread over its window. */
export function planTraffic(
  random: SeededRandom,
  { messages, windowMs, leaseMs }: { messages: number; windowMs: number; leaseMs: number },
): PlannedMessage[] {
  return Array.from({ length: messages }, (): PlannedMessage => {
    const first = random.below(windowMs);
    const duplicates = random.chance(8) ? 2 : random.chance(25) ? 1 : 0;
    // Half of the duplicates come on the heels of the first, so that they overlap; the others long after.
    const copies = Array.from({ length: duplicates }, () =>
      random.chance(50) ? first + random.below(20) : random.between(first, windowMs),
    );
    return {
      id: random.uuid(),
      copiesAtMs: [first, ...copies.sort((a, b) => a - b)],
      // Some handlers take longer than the lease, which then has to be renewed.
      workMs: random.chance(3) ? Math.round(leaseMs * 1.2) : random.between(1, 20),
      failsFirst: random.chance(3),
    };
  });
}
