import { setTimeout as pause } from "node:timers/promises";
import type { Envelope } from "@bq/idempotency-core";

export interface Order {
  readonly order: string;
  /** How long it takes to charge, in milliseconds. */
  readonly takesMs?: number;
}

export type OrderMessage = Envelope<Order>;

/** The effect, in place of a payment that should be made once. It is given up when the claim is lost. */
export async function charge({ order, takesMs = 0 }: Order, signal: AbortSignal): Promise<string> {
  await pause(takesMs, undefined, { signal });
  console.log(`charged ${order}`);
  return order;
}
