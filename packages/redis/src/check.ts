import type { Finding } from "@bq/idempotency-core";
import type { RedisClient } from "./client.ts";
import type { Settings } from "./options.ts";

export async function checkServers(_client: RedisClient, _settings: Settings): Promise<Finding[]> {
  return [];
}
