import { type Envelope, InMemoryStore } from "@bq/idempotency-core";
import { RedisStore } from "@bq/idempotency-redis";
import { type RedisServer, startRedis } from "@bq/idempotency-test-servers";
import { type Job, type JobState, type Processor, Queue, Worker, type WorkerOptions } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { parkingProcessor } from "../src/parking/bullmq.ts";
import { HeldEffect, leaseMs, Observed } from "./parking-scene.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

type Order = Pick<Envelope, "meta">;

let server: RedisServer;
let queue: Queue<Order>;
let close: (() => Promise<void>)[];
let observed: Observed;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(() => server.stop());

beforeEach(({ task }) => {
  queue = new Queue(task.id, { connection: connection() });
  close = [];
  observed = new Observed();
});

afterEach(async () => {
  await Promise.all(close.map((end) => end()));
  await queue.close();
});

const connection = () => ({ host: server.host, port: server.port });

/** A worker that takes one job at a time. */
function work<R>(processor: Processor<Order, R>, options?: Partial<WorkerOptions>): void {
  const worker = new Worker<Order, R>(queue.name, processor, { ...options, connection: connection() });
  close.push(() => worker.close());
}

/** A job that fails for good the first time it fails. */
function add(id: string): Promise<Job<Order>> {
  return queue.add("order", {
    meta: { id, queue: "orders", lang: "node", schema_version: 1, created_at: 0 },
  });
}

async function untilAll(state: JobState, count: number): Promise<Job<Order>[]> {
  await expect.poll(() => queue.getJobCountByTypes(state), { timeout: 60_000 }).toBe(count);
  return queue.getJobs([state]);
}

test("of two jobs of one id at once one is delayed, comes back, and is skipped, without using up its only attempt", async () => {
  const effect = new HeldEffect();
  const { observe } = observed;
  const processor = parkingProcessor<Order, string>(new InMemoryStore(), effect.happen, {
    leaseMs,
    observe,
  });
  work(processor);
  work(processor);
  await Promise.all([add("twice"), add("twice")]);
  await observed.until("parked", 2);
  effect.letGo();
  const jobs = await untilAll("completed", 2);

  expect(effect.count).toBe(1);
  expect(observed.types.slice(-2)).toEqual(["ran", "skipped"]);
  observed.expectDelaysKept();
  expect(jobs.map((job) => job.returnvalue).sort()).toEqual(["done", null]);
  // The one attempt of each is the one that completed it; starts are counted apart.
  expect(jobs.map((job) => job.attemptsMade)).toEqual([1, 1]);
  const parked = observed.types.filter((type) => type === "parked").length;
  expect(jobs.map((job) => job.attemptsStarted).sort()).toEqual([1, parked + 1]);
  expect(await queue.getFailedCount()).toBe(0);
});

test("a job that meets a store out of reach is delayed, and completes on its only attempt when the store is back", async () => {
  await using redis = await startRedis({ persistent: true });
  await using store = await RedisStore.connect(redis.url, { commandTimeoutMs: 500 });
  let effects = 0;
  const handler = () => {
    effects += 1;
  };
  await redis.kill();
  work(parkingProcessor<Order, void>(store, handler, { observe: observed.observe }));
  await add("later");
  await observed.until("store-failed", 2);
  expect(effects).toBe(0);
  await redis.restart();
  const [job] = await untilAll("completed", 1);
  expect(effects).toBe(1);
  expect(job?.attemptsMade).toBe(1);
  expect(job?.attemptsStarted).toBeGreaterThan(2);
});

test("a handler that throws uses up an attempt", async () => {
  const handler = () => {
    throw new Error("The card was declined");
  };
  work(parkingProcessor<Order, void>(new InMemoryStore(), handler));
  await add("declined");
  const [job] = await untilAll("failed", 1);
  expect(job).toMatchObject({ attemptsMade: 1, failedReason: "The card was declined" });
});

test("a limit on starts counts parking as well, and fails a parked job", async () => {
  const store = new InMemoryStore();
  // The claim of a worker that died.
  store.claim("limited", 300);
  let effects = 0;
  const handler = () => {
    effects += 1;
  };
  work(parkingProcessor<Order, void>(store, handler), { maxStartedAttempts: 1 });
  await add("limited");
  const [job] = await untilAll("failed", 1);
  expect(effects).toBe(0);
  expect(job).toMatchObject({ attemptsStarted: 2, failedReason: "job started more than allowable limit" });
});
