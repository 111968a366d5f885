import { expectTypeOf, it } from "vitest";
import {
  type Awaitable,
  type BatchResult,
  type ClaimContext,
  type Envelope,
  InMemoryStore,
  type Store,
  type TransactionalStore,
  wrap,
  wrapBatch,
  wrapClaiming,
  wrapTransactional,
} from "../src/index.ts";

// The compiler is the judge of these (pnpm typecheck): each line that must not compile says so.

interface Order {
  order_id: number;
}

interface Job<T> {
  id?: string;
  data: T;
}

const store: Store = new InMemoryStore();
const claiming: InMemoryStore = new InMemoryStore();
const transactional = undefined as unknown as TransactionalStore<{ query(sql: string): Promise<void> }>;
const never = () => expectTypeOf<true>().toEqualTypeOf<true>();

it("the parameters and the value of the handler come back", () => {
  const processor = () =>
    wrap(store, async (job: Job<Envelope<Order>>, token?: string) => `${job.data.data.order_id} ${token}`, {
      key: (job) => job.data.meta.id,
    });
  expectTypeOf(processor).returns.toEqualTypeOf<
    (job: Job<Envelope<Order>>, token?: string) => Promise<string | undefined>
  >();
  const sync = () =>
    wrap(store, (message: Envelope<Order>, attempt: number) => attempt + message.data.order_id);
  expectTypeOf(sync).returns.toEqualTypeOf<
    (message: Envelope<Order>, attempt: number) => Promise<number | undefined>
  >();
  const nothing = () => wrap(store, async (_message: Envelope) => {});
  // biome-ignore lint/suspicious/noConfusingVoidType: this is what becomes of a handler that returns nothing
  expectTypeOf(nothing).returns.toEqualTypeOf<(message: Envelope) => Promise<void | undefined>>();
});

it("a BabelQueue envelope, a job's data and a plain object fit without `key`", () => {
  never();
  const fits = () => [
    wrap(store, (_message: Envelope<Order>) => {}),
    wrap(store, (_message: { meta?: { id?: string } }) => {}),
    wrap(store, (_message: { meta: { id: number }; more: string }) => {}),
    wrap(store, (message) => message.meta?.id),
  ];
  expectTypeOf(fits).returns.items.toBeFunction();
});

it("a message of another shape needs `key`, or nothing would ever be guarded", () => {
  never();
  const missing = () => [
    // @ts-expect-error there is no meta in a Job
    wrap(store, async (job: Job<Order>, _token?: string) => job.data),
    // @ts-expect-error there is no meta in a Job
    wrapBatch(store, async (job: Job<Order>) => job.data, { concurrency: 2 }),
    // @ts-expect-error there is no meta in a Job
    wrapClaiming(claiming, async (job: Job<Order>) => job.data),
  ];
  const given = () =>
    wrap(store, async (job: Job<Order>, _token?: string) => job.data, { key: (job) => job.id });
  expectTypeOf(missing).toBeFunction();
  expectTypeOf(given).returns.toEqualTypeOf<
    (job: Job<Order>, token?: string) => Promise<Order | undefined>
  >();
});

it("`key` answers with a string or nothing", () => {
  never();
  const wrong = () => [
    // @ts-expect-error a number is no id
    wrap(store, (_job: Job<Order>) => {}, { key: (job) => job.data.order_id }),
    // @ts-expect-error a promise is no id
    wrap(store, (_job: Job<Order>) => {}, { key: async (job) => job.id }),
    // @ts-expect-error no such option
    wrap(store, (_message: Envelope) => {}, { leaseMs: 5 }),
  ];
  expectTypeOf(wrong).toBeFunction();
});

it("a batch answers with a result per message that tells its value by its outcome", () => {
  const batch = () => wrapBatch(store, async (message: Envelope<Order>) => message.data.order_id);
  expectTypeOf(batch).returns.toEqualTypeOf<
    (messages: readonly Envelope<Order>[]) => Promise<BatchResult<Envelope<Order>, number>[]>
  >();
  const value = (result: BatchResult<Envelope, number>) =>
    result.outcome === "ran" ? result.value : undefined;
  expectTypeOf(value).returns.toEqualTypeOf<number | undefined>();
});

it("the handler of a claim is given its context, that of a transaction the transaction", () => {
  const claimed = () =>
    wrapClaiming(claiming, async (_message: Envelope, { signal }, token: string) => [signal, token]);
  expectTypeOf(claimed).returns.parameters.toEqualTypeOf<[message: Envelope, token: string]>();
  wrapClaiming(claiming, (_message: Envelope, context) =>
    expectTypeOf(context).toEqualTypeOf<ClaimContext>(),
  );
  const transacted = () => wrapTransactional(transactional, async (_message: Envelope, tx) => tx.query("…"));
  // biome-ignore lint/suspicious/noConfusingVoidType: this is what becomes of a handler that returns nothing
  expectTypeOf(transacted).returns.toEqualTypeOf<(message: Envelope) => Promise<void | undefined>>();
});

it("a store may answer at once or through any promise", () => {
  expectTypeOf<boolean>().toExtend<Awaitable<boolean>>();
  expectTypeOf<PromiseLike<boolean>>().toExtend<Awaitable<boolean>>();
});
