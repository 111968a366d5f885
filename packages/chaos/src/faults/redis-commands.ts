import { Redis } from "ioredis";

/** Sends commands to one server, over a connection for the time of `work`. */
export async function withRedis<T>(
  { host, port }: { readonly host: string; readonly port: number },
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = new Redis({ host, port });
  // The command tells; without a listener ioredis would print it as well.
  redis.on("error", () => {});
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
