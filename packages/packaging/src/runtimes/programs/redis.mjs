import { RedisStore } from "@bq/idempotency-redis";
import ioredis from "ioredis";

const url = process.env.REDIS_URL;
/** Several runtimes may be at it on a small machine. */
const patienceMs = 30_000;
const admin = new ioredis.Redis(url);

// Time passes by moving what is stored.
const growOlder = `
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then
    redis.call('PEXPIRE', key, left - ARGV[2])
  end
end
`;

export const subject = {
  name: "RedisStore",
  capabilities: ["ttl", "batch", "claims"],
  open: ({ namespace, ttlMs }) =>
    RedisStore.connect(url, { prefix: `${namespace}:`, ttlMs, connectTimeoutMs: patienceMs }),
  advance: (ms, { namespace }) => admin.eval(growOlder, 0, namespace, ms),
};

export const end = () => admin.disconnect();
