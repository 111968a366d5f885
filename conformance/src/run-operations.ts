import assert from "node:assert/strict";
import {
  type BatchStore,
  type Claim,
  type ClaimingStore,
  isBatchStore,
  isClaimingStore,
  type Store,
} from "@bq/idempotency-core";
import { StoreModel } from "./model.ts";
import { runCase } from "./run-case.ts";
import { requireSubject, type Subject } from "./subject.ts";

/** One call on one of the handles, or time that passes. `handle` may be any whole number; it is taken modulo the handles. */
export type Operation =
  | { readonly call: "seen" | "remember" | "forget"; readonly handle: number; readonly id: string }
  | { readonly call: "seenMany" | "rememberMany"; readonly handle: number; readonly ids: readonly string[] }
  | { readonly call: "claim"; readonly handle: number; readonly id: string; readonly leaseMs: number }
  /** With the latest claim but `back` that was won; skipped while there is none. */
  | { readonly call: "renew"; readonly handle: number; readonly back: number; readonly leaseMs: number }
  | { readonly call: "commit" | "release"; readonly handle: number; readonly back: number }
  /** Only for a subject with `advance`. */
  | { readonly call: "elapse"; readonly ms: number };

/** What the operations work on. */
export interface RunOperationsOptions {
  /** The TTL of every handle, in milliseconds. Default: marks never expire. */
  ttlMs?: number | undefined;
  /** How many handles to open. Default 3. */
  handles?: number | undefined;
}

/**
 * Makes the calls one after another on several handles of a fresh backend, and holds every answer to that of a plain model.
 * For property tests: any sequence of operations is a test.
 *
 * @throws {AssertionError} that names the operation whose answer differs
 *
 * @example
 * await fc.assert(fc.asyncProperty(fc.array(operation), (operations) => runOperations(subject, operations)));
 */
export function runOperations<Backend, Tx>(
  subject: Subject<Backend, Tx>,
  operations: readonly Operation[],
  { ttlMs, handles = 3 }: RunOperationsOptions = {},
): Promise<void> {
  requireSubject(subject);
  return runCase(subject, {
    ...(ttlMs === undefined ? {} : { ttlMs }),
    async body(bench) {
      const stores: Store[] = [];
      while (stores.length < handles) stores.push(await bench.open());
      const run = new Run(stores, new StoreModel(ttlMs));
      for (const [index, operation] of operations.entries()) {
        if (operation.call !== "elapse") {
          await run.make(
            operation,
            `operation ${index + 1} of ${operations.length}, ${JSON.stringify(operation)}`,
          );
          continue;
        }
        assert.ok(bench.subject.advance, "an operation that lets time pass needs a subject with advance()");
        await bench.elapse(operation.ms);
        run.model.elapse(operation.ms);
      }
    },
  });
}

interface WonClaim {
  readonly number: number;
  readonly claim: Claim;
}

/** The store and the model, side by side. */
class Run {
  readonly model: StoreModel;
  readonly #stores: readonly Store[];
  readonly #won: WonClaim[] = [];
  #claims = 0;

  constructor(stores: readonly Store[], model: StoreModel) {
    this.#stores = stores;
    this.model = model;
  }

  async make(operation: Exclude<Operation, { call: "elapse" }>, what: string): Promise<void> {
    const store = this.#stores[operation.handle % this.#stores.length];
    assert.ok(store, "there is at least one handle");
    switch (operation.call) {
      case "seen":
        assert.equal(await store.seen(operation.id), this.model.seen(operation.id), what);
        return;
      case "remember":
      case "forget":
        await store[operation.call](operation.id);
        this.model[operation.call](operation.id);
        return;
      case "seenMany":
      case "rememberMany":
        return this.#makeMany(asBatchStore(store), operation, what);
      case "claim":
        return this.#claim(asClaimingStore(store), operation, what);
      default:
        return this.#settle(asClaimingStore(store), operation, what);
    }
  }

  async #makeMany(
    store: BatchStore,
    { call, ids }: Extract<Operation, { call: "seenMany" | "rememberMany" }>,
    what: string,
  ): Promise<void> {
    if (call === "seenMany") {
      const expected = ids.map((id) => this.model.seen(id));
      assert.deepEqual(await store.seenMany(ids), expected, what);
      return;
    }
    await store.rememberMany(ids);
    for (const id of ids) this.model.remember(id);
  }

  async #claim(
    store: ClaimingStore,
    { id, leaseMs }: Extract<Operation, { call: "claim" }>,
    what: string,
  ): Promise<void> {
    const number = ++this.#claims;
    const result = await store.claim(id, leaseMs);
    assert.equal(result.status, this.model.claim(id, number, leaseMs), what);
    if (result.status === "claimed") this.#won.push({ number, claim: result.claim });
  }

  async #settle(
    store: ClaimingStore,
    operation: Extract<Operation, { call: "renew" | "commit" | "release" }>,
    what: string,
  ): Promise<void> {
    const won = this.#won.at(-1 - (operation.back % Math.max(1, this.#won.length)));
    if (!won) return;
    const { number, claim } = won;
    const { call } = operation;
    const given = call === "renew" ? store.renew(claim, operation.leaseMs) : store[call](claim);
    const expected =
      call === "renew"
        ? this.model.renew(claim.id, number, operation.leaseMs)
        : this.model[call](claim.id, number);
    assert.equal(await given, expected, `${what}, with claim ${number} on ${JSON.stringify(claim.id)}`);
  }
}

function asBatchStore(store: Store): BatchStore {
  assert.ok(isBatchStore(store), "an operation on many ids needs a store with batches");
  return store;
}

function asClaimingStore(store: Store): ClaimingStore {
  assert.ok(isClaimingStore(store), "an operation on claims needs a store with claims");
  return store;
}
