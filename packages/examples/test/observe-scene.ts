import { InMemoryStore, type ObserveEvents, type Store, wrap, wrapClaiming } from "@bq/idempotency-core";

const declined: Error = new Error("The card was declined");

/** Two deliveries that run, one that is skipped, one parked for five seconds, one that fails, one without an id; and a store that is down. */
export async function everyOutcome(observe: ObserveEvents): Promise<void> {
  const store = new InMemoryStore();
  store.claim("in flight", 5_000);
  const options = { observe, markAttempts: 1 };
  const deliver = wrapClaiming(
    store,
    (message: { meta: { id?: string } }) => {
      if (message.meta.id === "bad") throw declined;
    },
    options,
  );
  for (const id of ["a", "b", "a", "in flight", "bad"]) await deliver({ meta: { id } }).catch(() => {});
  await deliver({ meta: {} });

  const fail = () => Promise.reject(new Error("The store is down"));
  const down: Store = { seen: fail, remember: fail, forget: fail };
  await wrap(down, () => {}, options)({ meta: { id: "c" } }).catch(() => {});
  await wrap({ ...down, seen: () => false }, () => {}, options)({ meta: { id: "d" } });
}
