import { type RedisServer, startRedis } from "@bq/idempotency-test-servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const lock = "docs/migrating/redis-lock.md";
const powertools = "docs/migrating/powertools.md";
const babelqueue = "docs/migrating/babelqueue-core.md";

let redis: RedisServer;
let client: Redis;
const project = new DocsProject([lock, powertools, babelqueue]);

beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
}, 120_000);

beforeEach(() => client.flushall());

afterAll(async () => {
  project[Symbol.dispose]();
  client.disconnect();
  await redis.stop();
});

const message = (id: string, order: number) => `{ meta: { id: "${id}" }, data: { order: ${order} } }`;
const tryOut = (page: string, code: string) => project.tryOut(page, code, { REDIS_URL: redis.url });

describe("from a home-made Redis lock", () => {
  it("what the old code processed is skipped by the new one, and a new message runs once", () => {
    const printed = tryOut(
      lock,
      `import * as before from "./before.mts";
       import * as after from "./after.mts";
       await before.onOrder(${message("a", 1)});
       await before.onOrder(${message("a", 1)});
       console.log("changed");
       await after.onOrder(${message("a", 1)});
       await after.onOrder(${message("b", 2)});
       await after.onOrder(${message("b", 2)});
       await before.stop();
       await after.stop();`,
    );
    expect(printed).toBe("charged order 1\nchanged\ncharged order 2\n");
  }, 120_000);

  it("marks of another form are copied", async () => {
    await client.mset("done-a", "2026-01-01", "done-b", "2026-01-02", "other", "x");
    expect(project.run(lock, ["copy-marks.mts"], { REDIS_URL: redis.url })).toBe("copied 2 marks\n");
    expect((await client.keys("orders:*")).sort()).toEqual(["orders:seen:a", "orders:seen:b"]);
  }, 120_000);
});

describe("from Powertools", () => {
  it("what was processed before the change is skipped during and after it", () => {
    const printed = tryOut(
      powertools,
      `import { client, onOrder as before } from "./before.mts";
       import { onOrder as during } from "./during.mts";
       import { onOrder as after, store } from "./after.mts";
       console.warn = () => {}; // It misses the context of a Lambda.
       await before(${message("a", 1)});
       await during(${message("a", 1)});
       await during(${message("b", 2)});
       await after(${message("a", 1)});
       await after(${message("b", 2)});
       await after(${message("c", 3)});
       await store.close();
       await client.close();`,
    );
    expect(printed).toBe("charged order 1\ncharged order 2\ncharged order 3\n");
  }, 120_000);
});

describe("from @babelqueue/core", () => {
  it("the new handler skips what it processed", () => {
    const printed = tryOut(
      babelqueue,
      `import { onOrder, store } from "./after.mts";
       const envelope = { meta: { id: "a" }, data: { number: 1 } };
       await onOrder(envelope);
       await onOrder(envelope);
       await store.close();`,
    );
    expect(printed).toBe("charged order 1\n");
  }, 120_000);
});
