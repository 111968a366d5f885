import { AsyncResource } from "node:async_hooks";
import { type StoreError, toStoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import { isBusy, pauseAfter } from "./busy.ts";
import { performGroup, Spoiled } from "./group.ts";
import { closedError, lockedError, type Operation, ownersTransactionError } from "./operation.ts";

/** The most rows that one group may be about: the event loop stands still while it is performed. */
const largestGroup = 256;

interface Write {
  readonly operation: Operation;
  readonly keys: readonly string[];
  readonly calledAt: number;
  /** Does it, and keeps the answer back. */
  readonly act: () => void;
  /** Gives the answer to the caller. */
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** What a queue of writes needs of its connection. */
export interface QueueTerms {
  readonly database: Sqlite.Database;
  readonly busyTimeoutMs: number;
  /** Calls it with a driver that does not sleep on a lock. */
  readonly withoutSleep: <T>(act: () => T) => T;
}

/**
 * The writes that were called in one turn of the event loop, or while the database was locked, are performed in the order of
 * their calls in one transaction, and each is answered when that is on the disk. A transaction begins and ends within a turn.
 */
export class WriteQueue {
  readonly #terms: QueueTerms;
  readonly #context = new AsyncResource("WriteQueue", { requireManualDestroy: true });
  readonly #waiting: Write[] = [];
  /** The latest write of each key that is still to be performed. */
  readonly #latest = new Map<string, Write>();
  #emptying: Promise<void> | undefined;
  #lockedSince: number | undefined;

  constructor(terms: QueueTerms) {
    this.#terms = terms;
  }

  add<T>(operation: Operation, keys: readonly string[], act: () => T): Promise<T> {
    return new Promise<T>((resolve, failed) => {
      let answer: T;
      const write: Write = {
        operation,
        keys,
        calledAt: performance.now(),
        act: () => {
          answer = act();
        },
        done: () => resolve(answer),
        failed,
      };
      this.#waiting.push(write);
      for (const key of keys) this.#latest.set(key, write);
      // In the context of the store: its turns belong to no caller, and each caller's promise keeps his own.
      this.#emptying ??= this.#context.runInAsyncScope(() => this.#empty());
    });
  }

  /** Is there a write of one of these keys that is still to be performed? */
  holds(keys: readonly string[]): boolean {
    return this.#latest.size > 0 && keys.some((key) => this.#latest.has(key));
  }

  /** Resolves when no write waits. */
  async emptied(): Promise<void> {
    while (this.#emptying !== undefined) await this.#emptying;
  }

  async #empty(): Promise<void> {
    for (let attempts = 0; this.#waiting.length > 0; ) {
      await (attempts === 0 ? endOfTurn() : pauseAfter(attempts));
      attempts = this.#performNext() ? 0 : attempts + 1;
    }
    this.#emptying = undefined;
  }

  /** Performs the group whose turn it is; `false` when it has to wait. */
  #performNext(): boolean {
    const { database, busyTimeoutMs, withoutSleep } = this.#terms;
    if (database.inTransaction) return this.#wait((write) => ownersTransactionError(write, busyTimeoutMs));
    const size = this.#groupSize();
    const group = this.#waiting.slice(0, size);
    try {
      const acts = group.map(({ act }) => act);
      const failures = withoutSleep(() => performGroup(database, acts));
      for (const [place, write] of this.#take(0, size).entries()) {
        if (failures.has(place)) fail(write, failures.get(place));
        else write.done();
      }
    } catch (error) {
      if (isBusy(error)) return this.#wait((write) => lockedError(write, busyTimeoutMs, error));
      if (error instanceof Spoiled) for (const write of this.#take(error.place, 1)) fail(write, error.error);
      else
        for (const write of this.#take(0, size))
          fail(write, database.open ? error : closedError(write.operation));
    }
    this.#lockedSince = undefined;
    return true;
  }

  #groupSize(): number {
    let size = 0;
    for (let rows = 0; size < this.#waiting.length && rows < largestGroup; size++) {
      rows += this.#waiting[size]?.keys.length ?? 0;
    }
    return size;
  }

  #take(place: number, count: number): Write[] {
    const taken = this.#waiting.splice(place, count);
    for (const write of taken) {
      for (const key of write.keys) if (this.#latest.get(key) === write) this.#latest.delete(key);
    }
    return taken;
  }

  /** Refuses the writes that have waited for long enough; the others stay. */
  #wait(refusal: (operation: Operation) => StoreError): false {
    const now = performance.now();
    const lockedSince = this.#lockedSince ?? now;
    this.#lockedSince = lockedSince;
    const patient = this.#waiting.findIndex(
      ({ calledAt }) => now - Math.max(calledAt, lockedSince) < this.#terms.busyTimeoutMs,
    );
    const over = patient === -1 ? this.#waiting.length : patient;
    for (const { operation, failed } of this.#take(0, over)) failed(refusal(operation));
    return false;
  }
}

function fail({ operation, failed }: Write, error: unknown): void {
  failed(toStoreError(error, operation.name, operation.id));
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
