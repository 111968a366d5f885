import { type RedisServer, startRedis } from "@bq/idempotency-test-servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const page = "docs/recipes.md";
const project = new DocsProject([page]);
let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
}, 120_000);

afterAll(async () => {
  project[Symbol.dispose]();
  await redis.stop();
});

/** Two jobs of one message, and one of another; then the end of the process, in the order in which Nest does it. */
const scene = `
import "reflect-metadata";
import { getQueueToken } from "@nestjs/bullmq";
import { NestFactory } from "@nestjs/core";
import { QueueEvents } from "bullmq";
import { OrdersModule } from "./orders.module.js";

const events = new QueueEvents("orders", { connection: { url: process.env.REDIS_URL } });
await events.waitUntilReady();
const app = await NestFactory.createApplicationContext(OrdersModule, { logger: ["error", "warn"] });
const queue = app.get(getQueueToken("orders"));
const deliver = (id, order) => queue.add("order", { meta: { id }, data: { order } });
for (const job of [await deliver("a", 1), await deliver("a", 1), await deliver("b", 2)]) {
  await job.waitUntilFinished(events);
}
await app.close();
await events.close();
process.stdout.write("closed\\n");
`;

it("the NestJS recipe charges once per message, and comes to its end", () => {
  project.emit();
  const printed = project.tryOut(page, scene, { REDIS_URL: redis.url });
  expect(printed).toBe("charged order 1\ncharged order 2\nclosed\n");
}, 120_000);
