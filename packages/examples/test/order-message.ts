import type { Order, OrderMessage } from "../src/consumers/orders.ts";

/** The message of an order, as its producer writes it. */
export function orderMessage(id: string, data: Order): OrderMessage {
  return {
    job: "urn:babel:orders:created",
    trace_id: "trace",
    data,
    meta: { id, queue: "orders", lang: "node", schema_version: 1, created_at: 0 },
    attempts: 0,
  };
}
