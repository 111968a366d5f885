import { maxTimerMs, OptionReader, requireInteger, StoreError } from "@bq/idempotency-core/backend";
import type { Connection } from "./connection.ts";
import { closedError } from "./operation.ts";

/** How expired marks are deleted. */
export interface PurgeOptions {
  /** How many rows are looked at, and at most deleted, in one go, from 1 to 100 000. Default 1 000. */
  batchSize?: number | undefined;
}

/** How expired marks are deleted again and again. */
export interface PurgeEveryOptions extends PurgeOptions {
  /** Is told when a purge failed; the next one comes all the same. Default: `process.emitWarning`. */
  onError?: ((error: unknown) => void) | undefined;
}

/** The pause after a batch that deleted something, in milliseconds: other connections get the write lock meanwhile. */
const pauseMs = 5;

/** A purge of this many rows and more empties the write-ahead log at its end. */
const largePurge = 10_000;

const name = "purge";

export function readBatchSize(options: PurgeOptions | undefined): number {
  return batchSizeOf(new OptionReader(name, options, ["batchSize"]));
}

function batchSizeOf(read: OptionReader): number {
  return read.integer("batchSize", { min: 1, max: 100_000, unit: "rows" }) ?? 1_000;
}

/**
 * Walks the table in the order of its ids and deletes, page by page, what is over. A page without such rows takes no lock,
 * and no index has to be kept up by every write for the sake of a purge now and then.
 */
export async function purge(connection: Connection, batchSize: number): Promise<number> {
  let deleted = 0;
  let after = "";
  for (;;) {
    const batch = await connection.run({ name }, () => purgePage(connection, after, batchSize));
    deleted += batch.deleted;
    if (batch.upTo === undefined) break;
    after = batch.upTo;
    await pause(batch.deleted > 0 ? pauseMs : 0);
  }
  if (deleted >= largePurge) await connection.run({ name }, () => emptyLog(connection));
  return deleted;
}

interface Page {
  readonly deleted: number;
  /** The last id of the page, where the next one begins; `undefined` at the end of the table. */
  readonly upTo: string | undefined;
}

function purgePage({ statements }: Connection, after: string, size: number): Page {
  const now = Date.now();
  const [upTo, over] = statements.page.get({ after, size, now }) ?? [null, 0];
  if (upTo === null) return { deleted: 0, upTo: undefined };
  if (typeof upTo !== "string") {
    throw new StoreError(`A row's message_id is no text (${typeof upTo}), so the purge cannot go on.`, {
      operation: name,
      code: "BQ_STORE_SCHEMA",
    });
  }
  // The statement judges each row again: one that was renewed or marked anew by now stays.
  const deleted = over === 0 ? 0 : statements.purge.run({ after, upTo, now }).changes;
  return { deleted, upTo };
}

/** Other connections that still read the log make this do less, which is no failure. */
function emptyLog({ database }: Connection): void {
  database.pragma("wal_checkpoint(TRUNCATE)");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}

/** Purges again and again until `stop` is called or the store is closed, and keeps no process alive. */
export function purgeEvery(
  connection: Connection,
  intervalMs: number,
  options: PurgeEveryOptions | undefined,
): () => void {
  requireInteger("purgeEvery: intervalMs", intervalMs, { min: 1, max: maxTimerMs, unit: "milliseconds" });
  const read = new OptionReader("purgeEvery", options, ["batchSize", "onError"]);
  const batchSize = batchSizeOf(read);
  const onError = read.callback<(error: unknown) => void>("onError") ?? warn;
  if (connection.closing) throw closedError({ name: "purgeEvery" });
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const next = (): void => {
    if (!stopped && !connection.closing) timer = setTimeout(run, intervalMs).unref();
  };
  const run = (): void => {
    if (stopped || connection.closing) return;
    purge(connection, batchSize)
      .catch((error: unknown) => {
        if (!stopped && !connection.closing) onError(error);
      })
      // An observer that throws is no reason to stop.
      .catch(() => undefined)
      .then(next);
  };
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function warn(error: unknown): void {
  process.emitWarning(`Purging the marks failed: ${error instanceof Error ? error.message : String(error)}`, {
    code: "BQ_PURGE_FAILED",
  });
}
