export { setup, teardown } from "@bq/idempotency-test-servers/vitest-postgres";
