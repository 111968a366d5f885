import { retryAfterMs } from "@bq/idempotency-examples/src/parking/retry-after.ts";
import type { GuardedHandler } from "./guarded-handler.ts";
import type { HoldingPoint } from "./hold.ts";
import type { Settlement } from "./log-line.ts";
import type { ChaosMessage } from "./message.ts";
import type { WorkerLog } from "./worker-log.ts";

/** What the consumer is to tell the broker about a delivery. */
export type Outcome =
  | { readonly tell: "ack" }
  /** Bring it again later; this was no attempt. */
  | { readonly tell: "park"; readonly delayMs: number }
  /** The handler failed: bring it again, and count an attempt. */
  | { readonly tell: "retry"; readonly error: unknown };

/** Takes deliveries through the handler, whatever the broker is, and writes down what happens to each. */
export class Deliveries {
  readonly #handler: GuardedHandler;
  readonly #log: WorkerLog;
  readonly #hold: HoldingPoint;
  readonly #open: Set<number> = new Set();
  #last = 0;

  constructor(handler: GuardedHandler, log: WorkerLog, hold: HoldingPoint) {
    this.#handler = handler;
    this.#log = log;
    this.#hold = hold;
  }

  get inFlight(): number {
    return this.#open.size;
  }

  /** Handles a delivery, then tells the broker the outcome by `settle`. Rejects when the broker could not be told. */
  async take(
    message: ChaosMessage,
    first: boolean,
    settle: (outcome: Outcome) => Promise<void>,
  ): Promise<Outcome> {
    const delivery = ++this.#last;
    this.#open.add(delivery);
    this.#log.write({ type: "received", delivery, id: message.meta.id });
    let how: Settlement = "lost-connection";
    try {
      const outcome = await this.#handle(message, delivery, first);
      await settle(outcome);
      how = outcome.tell;
      return outcome;
    } finally {
      this.#log.write({ type: "settled", delivery, how });
      this.#open.delete(delivery);
    }
  }

  async #handle(message: ChaosMessage, delivery: number, first: boolean): Promise<Outcome> {
    await this.#hold.pass("before-handler", delivery);
    try {
      await this.#handler.run(message, { delivery, first });
    } catch (error) {
      const code = (error as { code?: unknown } | undefined)?.code;
      this.#log.write({ type: "threw", delivery, code: String(code ?? ""), error: String(error) });
      const delayMs = retryAfterMs(error);
      return delayMs === undefined ? { tell: "retry", error } : { tell: "park", delayMs };
    }
    await this.#hold.pass("between-mark-and-ack", delivery);
    return { tell: "ack" };
  }
}
