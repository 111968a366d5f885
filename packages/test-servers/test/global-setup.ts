import * as postgres from "@bq/idempotency-test-servers/vitest-postgres";
import * as redis from "@bq/idempotency-test-servers/vitest-redis";
import type { TestProject } from "vitest/node";

// The set-ups that other packages name; vitest-setup.test.ts looks at what they hand over.
export async function setup(project: TestProject): Promise<void> {
  await Promise.all([redis.setup(project), postgres.setup(project)]);
}

export async function teardown(): Promise<void> {
  await Promise.all([redis.teardown(), postgres.teardown()]);
}
