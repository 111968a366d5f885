import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { StoreError, StoreTimeoutError } from "@bq/idempotency-core";
import { TimeLimits } from "@bq/idempotency-core/backend";
import { type Attempt, isReply, type RedisClient, send } from "./client.ts";
import type { Request } from "./commands.ts";
import type { OwnConnection } from "./connect.ts";
import { explain } from "./explain.ts";

/** How long `close` waits for a client that is not ours, and may wait for its server for ever, in milliseconds. */
const closeLimitMs = 5_000;

/** The time limit is over, and nobody waits for the answer any more. */
class Overdue extends Error {}

/** The way from a store to its server: while the store is open, within the time limit, and with errors that say what to do. */
export class Session {
  readonly #client: RedisClient;
  /** Only when the client is our own. */
  #connection: OwnConnection | undefined;
  readonly #limits = new TimeLimits();
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /** The client turns out to be our own: its commands have a time limit, and it ends with the session. */
  own(connection: OwnConnection): void {
    this.#connection = connection;
  }

  /** Throws when the store was closed. */
  requireOpen(operation: string, id?: string): void {
    if (!this.#closing) return;
    throw new StoreError(
      `The store was closed before ${operation}. Close it when no delivery runs any more.`,
      { operation, id, code: "BQ_STORE_CLOSED" },
    );
  }

  /**
   * Sends a command and gives its reply, or rejects with what the client threw; `failure` makes an error for the caller of it.
   * The time limit counts from `madeAt`. `onUnanswered` is called when the command was sent and failed without an answer of
   * the server, which then may have done it, or may do it yet.
   */
  async exchange(request: Request, madeAt: number, onUnanswered?: () => void): Promise<unknown> {
    return this.#bounded(madeAt, (attempt) => send(this.#client, request, attempt), onUnanswered);
  }

  /** Does the work if the store is open and the server in reach, and makes a `StoreError` of whatever goes wrong. */
  async attempt<T>(operation: string, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    this.requireOpen(operation);
    try {
      return await this.#bounded(performance.now(), work);
    } catch (error) {
      throw this.failure(error, operation, undefined);
    }
  }

  /** Sends one command on behalf of many ids. */
  run(operation: string, request: Request): Promise<unknown> {
    return this.attempt(operation, (attempt) => send(this.#client, request, attempt));
  }

  /** Sends a command behind one that failed, on the same connection. Nobody waits for its answer, and it may fail. */
  sendBehind(request: Request): void {
    this.#track(send(this.#client, request, { abandoned: false })).catch(() => {});
  }

  /** What the caller of an operation is told of a failure. */
  failure(error: unknown, operation: string, id: string | undefined): StoreError {
    return error instanceof Overdue && this.#connection
      ? new StoreTimeoutError(operation, id, this.#connection.commandTimeoutMs)
      : explain(error, operation, id);
  }

  /** Waits for what was accepted, then ends the connection if it is our own. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const settled = this.#settled();
    if (this.#connection) {
      // Within `commandTimeoutMs`.
      await settled;
      this.#connection.end();
      return;
    }
    await new Promise<void>((resolve) => {
      const lift = this.#limits.start(closeLimitMs, resolve);
      settled.then(() => {
        lift();
        resolve();
      });
    });
  }

  async #settled(): Promise<void> {
    // Calls that wait for those under way are sent in the turn of the event loop in which these end.
    await turnOfTheLoop();
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay);
      await turnOfTheLoop();
    }
  }

  async #bounded<T>(
    madeAt: number,
    work: (attempt: Attempt) => Promise<T>,
    onUnanswered?: () => void,
  ): Promise<T> {
    const unreachable = this.#connection?.unreachable();
    if (unreachable) throw unreachable;
    const leftMs = this.#leftMs(madeAt);
    if (leftMs <= 0) throw new Overdue();
    const attempt: Attempt = { abandoned: false };
    try {
      return await this.#track(this.#inTime(leftMs, attempt, work(attempt)));
    } catch (error) {
      if (!isReply(error)) onUnanswered?.();
      throw error;
    }
  }

  /** On our own connection an operation has a time limit; on a borrowed client its owner decides. */
  #leftMs(madeAt: number): number {
    if (!this.#connection) return Number.POSITIVE_INFINITY;
    return this.#connection.commandTimeoutMs - (performance.now() - madeAt);
  }

  #inTime<T>(limitMs: number, attempt: Attempt, answer: Promise<T>): Promise<T> {
    if (limitMs === Number.POSITIVE_INFINITY) return answer;
    return new Promise((resolve, reject) => {
      const answered = this.#limits.start(limitMs, () => {
        attempt.abandoned = true;
        reject(new Overdue());
      });
      answer.then(
        (reply) => {
          answered();
          resolve(reply);
        },
        (error: unknown) => {
          answered();
          reject(error);
        },
      );
    });
  }

  #track<T>(operation: Promise<T>): Promise<T> {
    this.#underWay.add(operation);
    const done = () => this.#underWay.delete(operation);
    operation.then(done, done);
    return operation;
  }
}
