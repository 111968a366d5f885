export const brokers = ["bullmq", "rabbitmq"] as const;
export const stores = ["memory", "sqlite", "redis", "redis-cluster", "postgres"] as const;
export const modes = ["wrap", "wrapClaiming", "wrapTransactional"] as const;

export type BrokerName = (typeof brokers)[number];
export type StoreName = (typeof stores)[number];
export type Mode = (typeof modes)[number];

/** One consumer under fire: which broker delivers, which store remembers, which wrapper guards the handler. */
export interface Scenario {
  readonly broker: BrokerName;
  readonly store: StoreName;
  readonly mode: Mode;
}

/** A mark can commit with its effect only where the store is a database that holds both. */
const transactionalStores: readonly StoreName[] = ["sqlite", "postgres"];

/** Every store in every mode that it has. */
const pairs: readonly Pick<Scenario, "store" | "mode">[] = stores.flatMap((store) =>
  modes
    .filter((mode) => mode !== "wrapTransactional" || transactionalStores.includes(store))
    .map((mode) => ({ store, mode })),
);

/** Every store in every mode on every broker. */
export const allScenarios: readonly Scenario[] = pairs.flatMap((pair) =>
  brokers.map((broker) => ({ broker, ...pair })),
);

/** Every store in every mode once, on the brokers in turn: for a run that has no time for all. */
export const halfOfTheScenarios: readonly Scenario[] = pairs.map((pair, index) => ({
  broker: brokers[index % brokers.length] ?? brokers[0],
  ...pair,
}));

export function nameOf({ broker, store, mode }: Scenario): string {
  return `${broker}/${store}/${mode}`;
}
