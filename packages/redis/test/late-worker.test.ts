import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, plainClient, sharedUrl } from "./support/servers.ts";
import { take } from "./support/take.ts";

/** Three workers that share one prefix. */
function workers() {
  const prefix = freshPrefix();
  return {
    prefix,
    a: new RedisStore(plainClient(sharedUrl), { prefix }),
    b: new RedisStore(plainClient(sharedUrl), { prefix }),
    c: new RedisStore(plainClient(sharedUrl), { prefix }),
  };
}

/** Takes the id as soon as the claim in its way has lapsed. */
async function takeAfterLapse(store: RedisStore, id: string) {
  const claims: Awaited<ReturnType<typeof take>>[] = [];
  await expect
    .poll(
      async () => {
        const result = await store.claim(id, 600_000);
        if (result.status === "claimed") claims.push(result.claim);
        return result.status;
      },
      { timeout: 20_000 },
    )
    .toBe("claimed");
  const [claim] = claims;
  if (!claim) throw new Error("unreachable");
  return claim;
}

it("a late worker that fails cannot release its successor's claim", async () => {
  const { a, b, c } = workers();
  const late = await take(a, "1", 1);
  const claim = await takeAfterLapse(b, "1");
  expect(await a.renew(late, 600_000)).toBe(false);
  expect(await a.release(late)).toBe(false);
  expect((await c.claim("1", 1_000)).status).toBe("in-flight");
  expect(await b.commit(claim)).toBe(true);
});

it("a late worker that succeeds learns that its claim was lost, and its mark stays", async () => {
  const { a, b, c } = workers();
  const late = await take(a, "1", 1);
  const claim = await takeAfterLapse(b, "1");
  expect(await a.commit(late)).toBe(false);
  expect(await c.seen("1")).toBe(true);
  expect(await b.commit(claim)).toBe(false);
  expect(await b.release(claim)).toBe(false);
  expect(await c.claim("1", 1_000)).toEqual({ status: "processed" });
});

it("an id whose worker was killed is parked until the lease is over, then claimed, and never skipped", {
  timeout: 60_000,
}, async () => {
  const { prefix, b } = workers();
  const child = fork(new URL("workers/holder.ts", import.meta.url), [sharedUrl, prefix], {
    execArgv: ["--conditions=@bq/source"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [held] = await once(child, "message");
  expect(held).toBe("claimed");
  child.kill("SIGKILL");
  await once(child, "exit");
  const statuses = new Set<string>();
  await expect
    .poll(
      async () => {
        const { status } = await b.claim("1", 600_000);
        statuses.add(status);
        return status;
      },
      { timeout: 30_000 },
    )
    .toBe("claimed");
  expect([...statuses]).toEqual(["in-flight", "claimed"]);
});
