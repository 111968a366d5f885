import type { DeliveryOf } from "./doubles.ts";
import { show } from "./doubles.ts";
import type { Effect, Evidence } from "./evidence.ts";

/** Where the ledger and what the workers were told contradict each other. */
export function findContradictions(evidence: Evidence, deliveryOf: DeliveryOf): string[] {
  return [
    ...evidence.effects.flatMap((effect) => strangers(evidence, effect, deliveryOf)),
    ...successesWithoutEffect(evidence),
    ...(evidence.scenario.mode === "wrapTransactional"
      ? evidence.effects.flatMap((effect) => failuresWithEffect(effect, deliveryOf))
      : []),
  ];
}

function strangers({ sent }: Evidence, effect: Effect, deliveryOf: DeliveryOf): string[] {
  if (!sent.includes(effect.id)) return [`${effect.id} had an effect and was never sent`];
  const delivery = deliveryOf(effect);
  if (delivery?.id === effect.id && delivery.handlingAtMs !== undefined) return [];
  return [`${effect.id} had an effect of which ${show(effect)} knows nothing`];
}

/** A delivery that was told "done" is acknowledged and never comes again: its effect must be there. */
function successesWithoutEffect({ effects, workers }: Evidence): string[] {
  const there = new Set(effects.map(show));
  return workers.flatMap(({ name, deliveries }) =>
    [...deliveries.values()]
      .filter(({ events }) => events.some(({ event }) => event === "ran"))
      .filter(({ number }) => !there.has(show({ worker: name, delivery: number })))
      .map(({ id, number }) => `${id} was told done to ${name}#${number}, and its effect is not there`),
  );
}

/** Of all errors, only one with the code for an unknown outcome may come after a COMMIT. */
function failuresWithEffect(effect: Effect, deliveryOf: DeliveryOf): string[] {
  const threw = deliveryOf(effect)?.threw;
  if (threw === undefined || threw.code === "BQ_COMMIT_UNKNOWN") return [];
  return [`${effect.id} was committed by ${show(effect)}, which was told that it failed: ${threw.code}`];
}
