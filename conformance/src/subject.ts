import type { Awaitable, Store } from "@bq/idempotency-core";
import { show } from "@bq/idempotency-core/backend";

/**
 * What a store can do beside the seen-set:
 *
 * - `ttl`: marks expire after the `ttlMs` that `open` is given
 * - `batch`: `seenMany`, `rememberMany`
 * - `claims`: `claim`, `renew`, `commit`, `release`
 * - `transactions`: `transact`, `within`; the subject then needs `transactions`
 */
export type Capability = "ttl" | "batch" | "claims" | "transactions";

const capabilities: readonly Capability[] = ["ttl", "batch", "claims", "transactions"];

/** Where a case takes place: every handle that is opened with the same context shares one backend. */
export interface CaseContext<Backend = unknown> {
  /**
   * A name that no other case has: a lower-case letter, then letters, digits and `_`, 24 characters in all. Fit for a key
   * prefix, a table or a file name.
   */
  readonly namespace: string;
  /** How long a mark lives, in milliseconds; `undefined`: for ever. Set only for a subject with the capability `ttl`. */
  readonly ttlMs: number | undefined;
  /** What `provision` gave. */
  readonly backend: Backend;
}

/** What the suite needs to test transactions, for it does not know what a transaction of the store can do. */
export interface TransactionHooks<Backend = unknown, Tx = unknown> {
  /** `"sync"` when the work of `transact` must not return a promise, as with better-sqlite3; otherwise `"async"`. */
  readonly work: "sync" | "async";
  /** Does the `tx` refuse its service once `transact` has settled? Then the suite holds the store to it. Default `false`. */
  readonly closesTx?: boolean | undefined;
  /** Writes an effect of that name through the transaction. With `work: "sync"` it must not return a promise. */
  write(tx: Tx, effect: string, context: CaseContext<Backend>): Awaitable<void>;
  /** Reads, outside any transaction, whether the effect of that name was committed. */
  written(effect: string, context: CaseContext<Backend>): Awaitable<boolean>;
  /**
   * Runs the work in a transaction that the caller opened, for `store.within(tx)`: it is committed when the work is done and
   * rolled back, with the error passed on, when it throws. With `work: "sync"` the work is synchronous.
   */
  begin<R>(work: (tx: Tx) => Awaitable<R>, context: CaseContext<Backend>, store: Store): Awaitable<R>;
}

/**
 * A store under test.
 *
 * @example
 * const subject: Subject = {
 *   name: "MyStore",
 *   capabilities: ["ttl"],
 *   open: ({ namespace, ttlMs }) => new MyStore(client, { prefix: namespace, ttlMs }),
 * };
 */
export interface Subject<Backend = unknown, Tx = unknown> {
  /** What the suite calls the store, in its titles and errors. */
  readonly name: string;
  /** What the store can do beside `seen`, `remember` and `forget`. The suite fails when this is not the truth. Default: nothing. */
  readonly capabilities?: readonly Capability[] | undefined;
  /**
   * Makes a fresh backend for one case, such as a table or a file. Leave it out when the namespace is enough, as it is for
   * a key prefix.
   */
  provision?(context: Omit<CaseContext, "backend">): Awaitable<Backend>;
  /** Disposes of what `provision` gave, when every handle is closed. */
  destroy?(backend: Backend, context: CaseContext<Backend>): Awaitable<unknown>;
  /**
   * Opens a new handle on the backend of the case. It is called several times in one case, and each handle stands for a
   * worker: what one remembers the others must see.
   */
  open(context: CaseContext<Backend>): Awaitable<Store>;
  /** Closes one handle. Default: calls `store.close()` if there is such a method. */
  close?(store: Store, context: CaseContext<Backend>): Awaitable<unknown>;
  /**
   * Moves the clock of the backend forward by that many milliseconds. Leave it out and the suite waits in real time, a few
   * hundred milliseconds for each case that needs it.
   */
  advance?(ms: number, context: CaseContext<Backend>): Awaitable<unknown>;
  /** Needed, and only allowed, with the capability `transactions`. */
  readonly transactions?: TransactionHooks<Backend, Tx> | undefined;
  /** The longest that provisioning, the case itself, closing and destroying may each take, in milliseconds. Default 30 000. */
  readonly deadlineMs?: number | undefined;
}

const hooks = ["provision", "destroy", "open", "close", "advance"] as const;
const properties: readonly string[] = ["name", "capabilities", "transactions", "deadlineMs", ...hooks];

/** Throws `TypeError`, with the property at fault, unless this is a subject. */
export function requireSubject(subject: unknown): asserts subject is Subject {
  if (typeof subject !== "object" || subject === null) {
    throw new TypeError(`A subject must be an object with a name and open(), got ${show(subject)}.`);
  }
  const given = subject as Record<string, unknown>;
  if (typeof given.name !== "string" || given.name === "") {
    throw new TypeError(`The subject's name must be a non-empty string, got ${show(given.name)}.`);
  }
  const where = `Subject ${JSON.stringify(given.name)}`;
  for (const property of Object.keys(given)) {
    if (!properties.includes(property)) {
      throw new TypeError(
        `${where}: unknown property ${JSON.stringify(property)}. Known: ${properties.join(", ")}.`,
      );
    }
  }
  for (const hook of hooks) {
    if (typeof given[hook] !== "function" && (given[hook] !== undefined || hook === "open")) {
      throw new TypeError(`${where}: ${hook} must be a function, got ${show(given[hook])}.`);
    }
  }
  requireCapabilities(where, given);
  const { deadlineMs } = given;
  if (deadlineMs !== undefined && !(typeof deadlineMs === "number" && deadlineMs > 0)) {
    throw new TypeError(
      `${where}: deadlineMs must be a positive number of milliseconds, got ${show(deadlineMs)}.`,
    );
  }
}

function requireCapabilities(where: string, given: Record<string, unknown>): void {
  const declared = given.capabilities ?? [];
  if (!Array.isArray(declared)) {
    throw new TypeError(`${where}: capabilities must be an array, got ${show(declared)}.`);
  }
  const unknown = declared.find((name) => !(capabilities as readonly unknown[]).includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`${where}: unknown capability ${show(unknown)}. Known: ${capabilities.join(", ")}.`);
  }
  const hooked = given.transactions as Partial<TransactionHooks> | null | undefined;
  if (declared.includes("transactions") !== (hooked !== undefined)) {
    throw new TypeError(
      `${where}: the capability "transactions" and the hooks in subject.transactions go together, but only one of them is there.`,
    );
  }
  if (hooked === undefined) return;
  if (hooked?.work !== "sync" && hooked?.work !== "async") {
    throw new TypeError(`${where}: transactions.work must be "sync" or "async", got ${show(hooked?.work)}.`);
  }
  for (const hook of ["write", "written", "begin"] as const) {
    if (typeof hooked[hook] !== "function") {
      throw new TypeError(`${where}: transactions.${hook} must be a function, got ${show(hooked[hook])}.`);
    }
  }
}
