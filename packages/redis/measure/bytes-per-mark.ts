import { randomUUID } from "node:crypto";
import { startRedis } from "@bq/idempotency-test-servers";
import { Redis } from "ioredis";
import { RedisStore } from "../src/index.ts";

// How much memory a mark takes, for the table in the README:
//   node --conditions=@bq/source measure/bytes-per-mark.ts

const marks = 100_000;
const server = await startRedis();
const client = new Redis(server.url);

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
}

console.log((await client.info("server")).match(/redis_version:\S+/)?.[0]);
for (const [title, ttlMs] of [
  ["for ever", undefined],
  ["with ttlMs", 7 * 86_400_000],
] as const) {
  await client.flushall();
  const store = new RedisStore(client, { ttlMs });
  const before = await usedBytes();
  for (let written = 0; written < marks; written += 1_000) {
    await store.rememberMany(Array.from({ length: 1_000 }, () => randomUUID()));
  }
  const bytes = ((await usedBytes()) - before) / marks;
  const [key = ""] = await client.keys("*");
  console.log(
    `${title}: ${Math.round(bytes)} bytes of used_memory a mark over ${marks} marks of a UUID; MEMORY USAGE of one says ${await client.memory("USAGE", key)}`,
  );
}
client.disconnect();
await server.stop();
