import type { BrokerName } from "../scenarios.ts";
import type { BrokerAddress } from "./config.ts";
import type { Deliveries } from "./deliveries.ts";

export interface Consumer {
  /** Takes nothing more; resolves when what was in flight is settled. */
  stop(): Promise<void>;
}

export type Consume = (address: BrokerAddress, deliveries: Deliveries) => Promise<Consumer>;

/** Loads what consumes from this broker, and nothing of the other one. */
export async function consumerOf(broker: BrokerName): Promise<Consume> {
  return broker === "bullmq"
    ? (await import("./consume-bullmq.ts")).consumeBullMq
    : (await import("./consume-rabbitmq.ts")).consumeRabbitMq;
}
