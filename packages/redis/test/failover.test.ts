import { startRedisReplicaSet } from "@bq/idempotency-test-servers";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { take } from "./support/take.ts";

it("a borrowed Sentinel client follows a failover, and replicated marks and claims hold", {
  timeout: 90_000,
}, async () => {
  const set = await startRedisReplicaSet();
  onTestFinished(() => set.stop());
  const options = { sentinels: set.sentinels, name: set.masterName };
  const clients = [new Redis(options), new Redis5(options)];
  for (const client of clients) {
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
  }
  const [store, other] = clients.map((client) => new RedisStore(client));
  if (!store || !other) throw new Error("unreachable");
  await store.remember("a");
  const claim = await take(store, "b", 600_000);
  await clients[0]?.wait(1, 10_000);
  await set.failover();
  // Until the clients have found the new primary an operation may fail, but never with a wrong answer.
  for (const each of [store, other]) {
    const answers: unknown[] = [];
    await expect
      .poll(async () => answers.push(await each.seen("a").catch(() => "failed")) && answers.at(-1), {
        timeout: 40_000,
      })
      .toBe(true);
    expect(answers).not.toContain(false);
  }
  expect((await other.claim("b", 1_000)).status).toBe("in-flight");
  expect(await store.commit(claim)).toBe(true);
  expect(await other.seen("b")).toBe(true);
});
