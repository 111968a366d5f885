import type { BrokerName } from "../scenarios.ts";
import type { Consume } from "./consumer.ts";

/** Loads what consumes from this broker, and nothing of the other one. */
export async function loadConsumer(broker: BrokerName): Promise<Consume> {
  return broker === "bullmq"
    ? (await import("./consume-bullmq.ts")).consumeBullMq
    : (await import("./consume-rabbitmq.ts")).consumeRabbitMq;
}
