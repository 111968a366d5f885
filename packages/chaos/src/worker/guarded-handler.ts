import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import {
  type IdempotencyEvent,
  type TransactionalStore,
  wrap,
  wrapClaiming,
  wrapTransactional,
} from "@bq/idempotency-core";
import type Sqlite from "better-sqlite3";
import postgres from "postgres";
import { nowMs } from "../clock.ts";
import { recordEffect } from "../ledger.ts";
import { recordSqliteEffect } from "../sqlite-ledger.ts";
import { storeTimeoutMs, type WorkerConfig } from "./config.ts";
import type { HoldingPoint } from "./hold.ts";
import type { ChaosMessage } from "./message.ts";
import type { OpenStore } from "./open-store.ts";
import type { WorkerLog } from "./worker-log.ts";

/** One hand-over of a message. */
export interface Attempt {
  readonly delivery: number;
  /** It is the first time that the broker hands over this copy. */
  readonly first: boolean;
}

export interface GuardedHandler {
  /** What the consumer calls for each delivery: the handler, behind the wrapper that is under test. */
  readonly run: (message: ChaosMessage, attempt: Attempt) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Parts {
  readonly config: WorkerConfig;
  readonly store: OpenStore;
  readonly log: WorkerLog;
  readonly hold: HoldingPoint;
}

/** Which delivery an event of the library belongs to: it carries the id alone, which several deliveries may share. */
const current = new AsyncLocalStorage<number>();

/** Puts the wrapper of the scenario around a handler whose effect is a row in the ledger. */
export function guardHandler({ config, store, log, hold }: Parts): GuardedHandler {
  const { leaseMs, ledgerUrl, name, scenario } = config;
  const observe = (event: IdempotencyEvent) => {
    const error = "error" in event && event.error !== undefined ? { error: String(event.error) } : {};
    log.write({ type: "event", delivery: current.getStore() ?? 0, event: event.type, ...error });
  };
  const options = { observe, storeTimeoutMs };
  // The ledger is out of reach of the faults, unless it lies in the store's own database.
  const sql = postgres(ledgerUrl, { max: 4, onnotice() {} });

  const begin = (message: ChaosMessage, { delivery, first }: Attempt) => {
    log.write({ type: "handling", delivery });
    if (message.failsFirst && first) throw new Error("The handler fails on its first attempt, as planned.");
    return { id: message.meta.id, worker: name, delivery, startedAtMs: nowMs() };
  };
  const handleOn = async (
    statements: Pick<postgres.Sql, "unsafe">,
    message: ChaosMessage,
    attempt: Attempt,
  ) => {
    const { delivery } = attempt;
    const effect = begin(message, attempt);
    await hold.pass("in-handler", delivery);
    await pause(message.workMs);
    await recordEffect(statements, effect);
    log.write({ type: "effect", delivery });
    await hold.pass("between-effect-and-mark", delivery);
  };
  const handleInFile = (database: Sqlite.Database, message: ChaosMessage, attempt: Attempt) => {
    const { delivery } = attempt;
    const effect = begin(message, attempt);
    hold.passBlocking("in-handler", delivery);
    recordSqliteEffect(database, effect);
    log.write({ type: "effect", delivery });
    hold.passBlocking("between-effect-and-mark", delivery);
  };

  const guarded = (() => {
    switch (scenario.mode) {
      case "wrap":
        return wrap(
          store,
          (message: ChaosMessage, attempt: Attempt) => handleOn(sql, message, attempt),
          options,
        );
      case "wrapClaiming":
        return wrapClaiming(
          store,
          (message: ChaosMessage, _claim, attempt: Attempt) => handleOn(sql, message, attempt),
          { ...options, leaseMs },
        );
      case "wrapTransactional":
        return scenario.store === "sqlite"
          ? wrapTransactional(
              store as unknown as TransactionalStore<Sqlite.Database>,
              (message: ChaosMessage, tx: Sqlite.Database, attempt: Attempt) =>
                handleInFile(tx, message, attempt),
              options,
            )
          : wrapTransactional(
              store as unknown as TransactionalStore<postgres.TransactionSql>,
              (message: ChaosMessage, tx: postgres.TransactionSql, attempt: Attempt) =>
                handleOn(tx, message, attempt),
              options,
            );
    }
  })();

  return {
    run: (message, attempt) =>
      current.run(attempt.delivery, async () => {
        log.write({ type: "asking", delivery: attempt.delivery });
        await guarded(message, attempt);
        log.write({ type: "returned", delivery: attempt.delivery });
      }),
    close: async () => {
      await sql.end({ timeout: 1 });
      await store.close?.();
    },
  };
}
