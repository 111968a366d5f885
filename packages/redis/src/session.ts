import { StoreError, StoreTimeoutError } from "@bq/idempotency-core";
import { type Attempt, isReply, type RedisClient, send } from "./client.ts";
import type { Request } from "./commands.ts";
import type { OwnConnection } from "./connect.ts";
import { explain } from "./explain.ts";

/** The way from a store to its server: while the store is open, within the time limit, and with errors that say what to do. */
export class Session {
  readonly #client: RedisClient;
  /** Only when the client is our own. */
  readonly #connection: OwnConnection | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(client: RedisClient, connection?: OwnConnection) {
    this.#client = client;
    this.#connection = connection;
  }

  /**
   * Sends a command and gives its answer, or throws a `StoreError`. `onUnanswered` is called when it was sent and failed
   * without an answer of the server, which then may have done it, or may do it yet.
   */
  run(
    operation: string,
    id: string | undefined,
    request: Request,
    onUnanswered?: () => void,
  ): Promise<unknown> {
    return this.attempt(operation, id, (attempt) => send(this.#client, request, attempt), onUnanswered);
  }

  /** Does the work if the store is open and the server in reach, and makes a `StoreError` of whatever goes wrong. */
  async attempt<T>(
    operation: string,
    id: string | undefined,
    work: (attempt: Attempt) => Promise<T>,
    onUnanswered?: () => void,
  ): Promise<T> {
    if (this.#closing) throw closedError(operation, id);
    const unreachable = this.#connection?.unreachable();
    if (unreachable) throw unreachable;
    const attempt: Attempt = { abandoned: false };
    try {
      return await this.#track(this.#inTime(operation, id, attempt, work(attempt)));
    } catch (error) {
      if (!isReply(error)) onUnanswered?.();
      throw explain(error, operation, id);
    }
  }

  /** Sends a command behind one that failed, on the same connection. Nobody waits for its answer, and it may fail. */
  sendBehind(request: Request): void {
    this.#track(send(this.#client, request, { abandoned: false })).catch(() => {});
  }

  /** Waits for what is under way, then ends the connection if it is our own. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    this.#connection?.end();
  }

  /** On our own connection an operation has a time limit; on a borrowed client its owner decides. */
  #inTime<T>(operation: string, id: string | undefined, attempt: Attempt, answer: Promise<T>): Promise<T> {
    if (!this.#connection) return answer;
    const limitMs = this.#connection.commandTimeoutMs;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        attempt.abandoned = true;
        reject(new StoreTimeoutError(operation, id, limitMs));
      }, limitMs);
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  #track<T>(operation: Promise<T>): Promise<T> {
    this.#underWay.add(operation);
    const done = () => this.#underWay.delete(operation);
    operation.then(done, done);
    return operation;
  }
}

function closedError(operation: string, id: string | undefined): StoreError {
  return new StoreError(
    `The store was closed before ${operation}. Close it when no delivery runs any more.`,
    {
      operation,
      id,
      code: "BQ_STORE_CLOSED",
    },
  );
}
