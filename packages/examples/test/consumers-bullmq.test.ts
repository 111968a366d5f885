import { type RedisServer, startRedis } from "@bq/idempotency-test-servers";
import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Order, OrderMessage } from "../src/consumers/orders.ts";
import { ConsumerProcess, charges } from "./consumer-process.ts";
import { orderMessage } from "./order-message.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let server: RedisServer;
let queue: Queue<OrderMessage>;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(() => server.stop());

beforeEach(({ task }) => {
  queue = new Queue(task.id, { connection: { url: server.url } });
});

afterEach(() => queue.close());

const worker = () =>
  ConsumerProcess.ready("bullmq-worker", { REDIS_URL: server.url, QUEUE: queue.name, LEASE_MS: "4000" });

const add = (id: string, order: Order) => queue.add("order", orderMessage(id, order));

test("of two jobs of one order at once one is parked and comes back, and the order is charged once", async () => {
  const workers = await Promise.all([worker(), worker()]);
  await add("a", { order: "twice", takesMs: 1_500 });
  await add("a", { order: "twice", takesMs: 1_500 });
  await add("b", { order: "once" });
  await expect.poll(() => queue.getCompletedCount(), { timeout: 90_000 }).toBe(3);
  expect(charges(...workers)).toEqual({ twice: 1, once: 1 });
  const types = workers.flatMap(({ lines }) => lines);
  expect(types).toContain("parked");
  expect(types.filter((type) => type === "skipped")).toHaveLength(1);
  const jobs = await queue.getCompleted();
  expect(jobs.map(({ attemptsMade }) => attemptsMade)).toEqual([1, 1, 1]);
});

test("a worker that is asked to end charges what it has begun, takes nothing more, and leaves nothing behind", async () => {
  const first = await worker();
  await add("a", { order: "begun", takesMs: 2_000 });
  await expect.poll(() => queue.getActiveCount(), { timeout: 60_000 }).toBe(1);
  expect(await first.end("SIGTERM")).toBe(0);
  expect(charges(first)).toEqual({ begun: 1 });
  expect(await queue.getCompletedCount()).toBe(1);

  await add("a", { order: "begun" });
  await add("b", { order: "later" });
  const second = await worker();
  await second.until("skipped");
  await second.until("charged later");
  expect(charges(first, second)).toEqual({ begun: 1, later: 1 });
});
