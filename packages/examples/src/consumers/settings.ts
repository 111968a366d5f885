/** What a consumer is told by its environment. */
export interface ConsumerSettings {
  readonly redisUrl: string;
  readonly rabbitMqUrl: string;
  readonly postgresUrl: string;
  readonly queue: string;
  /** How long the id of a worker that died stays claimed, and about the longest that a duplicate is parked. */
  readonly leaseMs: number;
  /** How long a message counts as processed: longer than any redelivery may take to come. */
  readonly ttlMs: number;
}

const { REDIS_URL, RABBITMQ_URL, POSTGRES_URL, QUEUE, LEASE_MS } = process.env;

export const settings: ConsumerSettings = {
  redisUrl: REDIS_URL ?? "redis://localhost:6379",
  rabbitMqUrl: RABBITMQ_URL ?? "amqp://localhost",
  postgresUrl: POSTGRES_URL ?? "postgres://localhost/orders",
  queue: QUEUE ?? "orders",
  leaseMs: Number(LEASE_MS ?? 30_000),
  ttlMs: 7 * 24 * 3_600_000,
};
