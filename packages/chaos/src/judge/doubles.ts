import { type Cause, causeOf } from "./causes.ts";
import type { Effect, Evidence } from "./evidence.ts";
import type { Delivery } from "./history.ts";

/** Why one effect did not keep a later one from happening. */
export interface ExplainedPair {
  readonly earlier: string;
  readonly later: string;
  /** `undefined`: no rule allows it. */
  readonly cause: Cause | undefined;
}

/** A message with more than one effect. */
export interface Doubled {
  readonly id: string;
  readonly effects: readonly {
    readonly worker: string;
    readonly delivery: number;
    readonly startedAtMs: number;
  }[];
  readonly pairs: readonly ExplainedPair[];
}

export type DeliveryOf = (effect: Effect) => Delivery | undefined;

/**
 * Every message that had more than one effect. Each earlier effect must have its own cause for not having kept each later one
 * from happening: one cause among three effects explains nothing about the third.
 */
export function findDoubled(evidence: Evidence, deliveryOf: DeliveryOf): Doubled[] {
  const byId = Map.groupBy(evidence.effects, ({ id }) => id);
  return [...byId].flatMap(([id, effects]) => {
    if (effects.length < 2) return [];
    // In the order in which they asked the store: that of the effects is another one when a worker was suspended in between.
    const askedAt = (effect: Effect) => deliveryOf(effect)?.askingAtMs ?? effect.startedAtMs;
    const inOrder = effects.toSorted((a, b) => askedAt(a) - askedAt(b));
    const pairs = inOrder.flatMap((later, index) =>
      inOrder.slice(0, index).map((earlier) => explain(evidence, earlier, later, deliveryOf)),
    );
    const shown = inOrder.map(({ worker, delivery, startedAtMs }) => ({ worker, delivery, startedAtMs }));
    return [{ id, effects: shown, pairs }];
  });
}

function explain(evidence: Evidence, earlier: Effect, later: Effect, deliveryOf: DeliveryOf): ExplainedPair {
  const [first, second] = [deliveryOf(earlier), deliveryOf(later)];
  const known = first !== undefined && second !== undefined && first !== second;
  return {
    earlier: show(earlier),
    later: show(later),
    cause: known ? causeOf(evidence, first, second) : undefined,
  };
}

export function show({ worker, delivery }: { worker: string; delivery: number }): string {
  return `${worker}#${delivery}`;
}

export function isExplained({ pairs }: Doubled): boolean {
  return pairs.every(({ cause }) => cause !== undefined);
}
