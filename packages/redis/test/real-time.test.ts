import { expect, it } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";
import { until } from "./support/until.ts";

/** Not before this may it be over, and soon after it must be. */
const lifeMs = 400;

it("marks and claims end by the server's own clock when their time is over, and not before", async () => {
  const store = new RedisStore(plainClient(sharedUrl), { prefix: freshPrefix(), ttlMs: lifeMs });
  await store.seen("warm-up");
  const startedAt = performance.now();
  await Promise.all([
    store.remember("single"),
    store.rememberMany(["batch"]),
    take(store, "claimed", lifeMs),
  ]);
  await store.commit(await take(store, "committed"));
  const marked = ["single", "batch", "committed"];
  await until("all are over", async () => {
    const seen = await store.seenMany(marked);
    const held = await store.claim("claimed", 1);
    const isOver = [...seen.map((mark) => !mark), held.status === "claimed"];
    if (isOver.some(Boolean)) expect(performance.now() - startedAt).toBeGreaterThanOrEqual(lifeMs - 1);
    return isOver.every(Boolean);
  });
});
