import { Readable, Writable } from "node:stream";
import type { DriverQuery } from "./driver.ts";

/** What the guard needs to know of a statement that was issued. */
export interface StatementWatch {
  /** Is the transaction over? Asked when the driver would go on with a cursor. */
  isOver(): boolean;
  /** The statement failed, or what it was to hand its rows to. Told after whoever waits for the statement was told. */
  onFailure(error: unknown): void;
}

/**
 * Watches a statement before it is sent. For a cursor or a COPY the answer tells, when called, whether the statement cannot
 * end, because the work has left open what it was given.
 */
export function watchStatement(query: DriverQuery, watch: StatementWatch): (() => boolean) | undefined {
  Promise.prototype.then.call(query, undefined, (error: unknown) => watch.onFailure(error));
  if (query.cursorRows !== undefined) return watchCursor(query, watch);
  return query.streaming ? watchCopy(query, watch) : undefined;
}

/**
 * The driver asks for the next rows when the callback is done, even if the connection is gone by then, and ends the process
 * with that. So a callback of a transaction that is over is never done.
 */
function watchCursor(query: DriverQuery, { isOver, onFailure }: StatementWatch): () => boolean {
  let callback = query.cursorFn;
  let pending = 0;
  const watched = (rows: unknown): unknown => {
    pending++;
    const answer = Promise.resolve(callback?.(rows)).finally(() => {
      pending--;
      return isOver() ? new Promise(() => {}) : undefined;
    });
    // Nobody waits for the callback of the last rows.
    answer.catch(onFailure);
    return answer;
  };
  // An iterator sets another callback for each step.
  Object.defineProperty(query, "cursorFn", {
    get: () => (callback === undefined ? undefined : watched),
    set(next: DriverQuery["cursorFn"]) {
      callback = next;
    },
  });
  // And has the driver tell a failure to the step alone.
  let reject = query.reject;
  const rejectAndTell = (error: unknown): void => {
    onFailure(error);
    reject(error);
  };
  Object.defineProperty(query, "reject", {
    get: () => rejectAndTell,
    set(next: DriverQuery["reject"]) {
      reject = next;
    },
  });
  return () => pending > 0 && query.active;
}

function watchCopy(query: DriverQuery, { onFailure }: StatementWatch): () => boolean {
  let stream: unknown;
  const onStream = (opened: unknown) => {
    stream = opened;
    // It fails with the connection, and a stream that fails unheard ends the process.
    if (opened instanceof Readable || opened instanceof Writable) opened.on("error", onFailure);
  };
  Promise.prototype.then.call(query, onStream, () => {});
  return () =>
    stream instanceof Readable
      ? !stream.readableEnded
      : stream instanceof Writable && !stream.writableEnded && !stream.destroyed;
}
