import { Redis } from "ioredis";

interface Address {
  readonly host: string;
  readonly port: number;
}

export type RedisCommand = (command: string, ...args: (string | number)[]) => Promise<unknown>;

/** Sends commands to one server, over a connection for the time of `work`. */
export async function withRedis<T>(
  { host, port }: Address,
  work: (command: RedisCommand) => Promise<T>,
): Promise<T> {
  const redis = new Redis({ host, port, retryStrategy: null, maxRetriesPerRequest: 0 });
  // The failed command tells; without a listener ioredis would print it as well.
  redis.on("error", () => {});
  try {
    return await work((command, ...args) => redis.call(command, ...args));
  } finally {
    redis.disconnect();
  }
}

/** The `name:value` lines of INFO or CLUSTER INFO. */
export function fields(info: unknown): Record<string, string> {
  const lines = String(info).split("\r\n");
  return Object.fromEntries(
    lines.filter((line) => line.includes(":")).map((line) => line.split(/:(.*)/s, 2)),
  );
}
