import { maxTimerMs, OptionReader, requireInteger } from "@bq/idempotency-core/backend";
import type { Table } from "./table.ts";

/** How expired marks are deleted. */
export interface PurgeOptions {
  /** The most rows that one statement deletes. Default 1 000. */
  batchSize?: number | undefined;
}

/** How expired marks are deleted again and again. */
export interface PurgeEveryOptions extends PurgeOptions {
  /** Is told how many rows a purge deleted. */
  onPurge?: ((deleted: number) => unknown) | undefined;
  /** Is told why a purge failed; the next one is made all the same. Default: a process warning. */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** How many batches' worth of ids one search through the table gives. */
const batchesPerSearch = 50;

/** Deletes the rows that are of no use any more, batch after batch, until there are none or `stopped` says so. */
export async function purge(table: Table, batchSize: number, stopped: () => boolean): Promise<number> {
  const limit = batchSize * batchesPerSearch;
  let total = 0;
  for (;;) {
    const ids = await findExpired(table, limit);
    let deleted = 0;
    for (let from = 0; from < ids.length && !stopped(); from += batchSize) {
      deleted += await deleteExpired(table, ids.slice(from, from + batchSize));
    }
    total += deleted;
    // A search that is not full was the last. One that led to nothing found only rows that others are working with.
    if (ids.length < limit || deleted === 0 || stopped()) return total;
  }
}

async function findExpired(table: Table, limit: number): Promise<string[]> {
  const ids = await table.ask({
    operation: "purge",
    statement: "expired",
    parameters: [String(limit)],
  });
  return JSON.parse(ids ?? "[]");
}

async function deleteExpired(table: Table, ids: readonly string[]): Promise<number> {
  const count = await table.ask({
    operation: "purge",
    statement: "purge",
    parameters: [JSON.stringify(ids)],
  });
  return Number(count);
}

export function readBatchSize(options: PurgeOptions | undefined): number {
  return batchSizeOf(new OptionReader("purge", options, ["batchSize"]));
}

/** A purge after every interval, counted from the end of the one before, until it is stopped. Never keeps the process alive. */
export class PurgeSchedule {
  readonly #intervalMs: number;
  readonly #run: () => Promise<number>;
  readonly #onPurge: ((deleted: number) => unknown) | undefined;
  readonly #onError: (error: unknown) => unknown;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    intervalMs: number,
    options: PurgeEveryOptions | undefined,
    run: (options: PurgeOptions) => Promise<number>,
  ) {
    requireInteger("purgeEvery: intervalMs", intervalMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
    const read = new OptionReader("purgeEvery", options, ["batchSize", "onPurge", "onError"]);
    const batchSize = batchSizeOf(read);
    this.#intervalMs = intervalMs;
    this.#run = () => run({ batchSize });
    this.#onPurge = read.callback("onPurge");
    this.#onError = read.callback<(error: unknown) => unknown>("onError") ?? warn;
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#purge(), this.#intervalMs);
    this.#timer.unref();
  }

  async #purge(): Promise<void> {
    try {
      const deleted = await this.#run();
      await this.#onPurge?.(deleted);
    } catch (error) {
      if (!this.#stopped) await this.#tell(error);
    } finally {
      this.#schedule();
    }
  }

  async #tell(error: unknown): Promise<void> {
    try {
      await this.#onError(error);
    } catch {
      // Whoever listens has no say in whether the next purge is made.
    }
  }
}

function batchSizeOf(read: OptionReader): number {
  return read.integer("batchSize", { min: 1, max: 1_000_000 }) ?? 1_000;
}

function warn(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  process.emitWarning(`A scheduled purge failed and will be tried again: ${reason}`, {
    type: "IdempotencyWarning",
    code: "BQ_PURGE_FAILED",
  });
}
