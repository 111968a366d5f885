import type { Message } from "@bq/idempotency-core";
import type { Ledger } from "./ledger.ts";

/** What the demo understands of a message's `data`; everything else in it is left alone. */
export interface Payload {
  readonly [name: string]: unknown;
  /**
   * Makes the handler throw, before its effect: `"always"`, or while the delivery's `attempts` is below this number, so that
   * a later delivery succeeds.
   */
  readonly throws?: "always" | number;
}

/** A delivery as it stands in a log: an envelope, or any other JSON object. */
export interface LoggedMessage extends Message {
  readonly data?: unknown;
  readonly attempts?: unknown;
}

/** The demo's handler: throws if the message says so; otherwise its effect is an entry in the ledger. */
export function handlerFor(ledger: Ledger): (message: LoggedMessage, line: number) => void {
  return (message, line) => {
    if (mustThrow(message)) throw new Error(`The message on line ${line} asks to fail.`);
    ledger.enter(message.meta?.id);
  };
}

function mustThrow({ data, attempts }: LoggedMessage): boolean {
  const throws = (data as Payload | null | undefined)?.throws;
  if (typeof throws === "number") return (typeof attempts === "number" ? attempts : 0) < throws;
  return throws === "always";
}
