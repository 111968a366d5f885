import {
  type BatchStore,
  type ClaimingStore,
  InMemoryStore,
  type TransactionalStore,
  wrap,
  wrapBatch,
  wrapClaiming,
  wrapTransactional,
} from "@bq/idempotency-core";
import { PostgresStore } from "@bq/idempotency-postgres";
import { RedisStore } from "@bq/idempotency-redis";
import { SqliteStore } from "@bq/idempotency-sqlite";
import type {
  Backend,
  BatchContestant,
  Contestant,
  Effect,
  Mode,
  Place,
  SingleContestant,
} from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

type OurStore = BatchStore & ClaimingStore & { close?(): Promise<void> };
type Wrapped = (message: { meta: { id: string } }) => Promise<unknown>;
type OpenStore<S> = (place: Place) => Promise<S>;

const openStore = {
  memory: async () => new InMemoryStore({ ttlMs }),
  sqlite: ({ address }) => SqliteStore.connect(address, { ttlMs }),
  redis: ({ address }) => RedisStore.connect(address, { ttlMs }),
  postgres: async ({ address }) => {
    const store = await PostgresStore.connect(address, { ttlMs });
    await store.migrate();
    return store;
  },
} as const satisfies Record<Backend, OpenStore<OurStore>>;

function single<S extends { close?(): Promise<void> }>(
  name: string,
  mode: Mode,
  backend: Backend,
  open: OpenStore<S>,
  wrapped: (store: S, effect: Effect) => Wrapped,
): SingleContestant {
  return {
    name: `${backend}/${name}`,
    side: "ours",
    backend,
    mode,
    async open(place, effect) {
      const store = await open(place);
      const consume = wrapped(store, effect);
      return {
        deliver: (id) => consume({ meta: { id } }),
        close: async () => store.close?.(),
      };
    },
  };
}

function seenSet(backend: Backend): SingleContestant {
  return single<OurStore>("wrap", "seen-set", backend, openStore[backend], (store, effect) =>
    wrap(store, async () => effect()),
  );
}

function claims(backend: Backend): SingleContestant {
  return single<OurStore>("wrapClaiming", "claims", backend, openStore[backend], (store, effect) =>
    wrapClaiming(store, async () => effect()),
  );
}

function transaction<Tx>(
  backend: Backend,
  open: OpenStore<TransactionalStore<Tx> & { close(): Promise<void> }>,
): SingleContestant {
  return single("wrapTransactional", "transaction", backend, open, (store, effect) =>
    wrapTransactional(store, () => effect()),
  );
}

function batch(backend: Backend): BatchContestant {
  return {
    name: `${backend}/wrapBatch`,
    side: "ours",
    backend,
    mode: "batch",
    batchSize: 100,
    async open(place, effect) {
      const store: OurStore = await openStore[backend](place);
      const consume = wrapBatch(store, async (_message: { meta: { id: string } }) => effect());
      return {
        deliverBatch: (ids) => consume(ids.map((id) => ({ meta: { id } }))),
        close: async () => store.close?.(),
      };
    },
  };
}

/** The packages of this workspace, each wrapper on each store that it makes sense on, with the default options. */
export const ours: readonly Contestant[] = [
  seenSet("memory"),
  claims("memory"),
  seenSet("sqlite"),
  claims("sqlite"),
  transaction("sqlite", openStore.sqlite),
  batch("sqlite"),
  seenSet("redis"),
  claims("redis"),
  batch("redis"),
  seenSet("postgres"),
  claims("postgres"),
  transaction("postgres", openStore.postgres),
  batch("postgres"),
];
