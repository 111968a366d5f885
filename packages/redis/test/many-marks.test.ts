import { expect, it } from "vitest";
import { RedisStore } from "../src/index.ts";
import { ownRedis, plainClient } from "./support/servers.ts";

const asked = 400;

/** The server's own time for one read, in microseconds: the network and this process do not blur it. */
async function microsecondsPerRead(store: RedisStore, client: ReturnType<typeof plainClient>, marks: number) {
  await client.config("RESETSTAT");
  const present = Array.from({ length: asked }, (_, i) => store.seen(`id-${(i * 7_919) % marks}`));
  const absent = Array.from({ length: asked }, (_, i) => store.seen(`absent-${i}`));
  expect(await Promise.all(present)).toEqual(Array(asked).fill(true));
  expect(await Promise.all(absent)).toEqual(Array(asked).fill(false));
  const stats = await client.info("commandstats");
  expect(stats).toMatch(new RegExp(`cmdstat_getex:calls=${2 * asked},`));
  return Number(/cmdstat_getex:.*usec_per_call=([\d.]+)/.exec(stats)?.[1]);
}

it("among 100 000 marks an id is found as fast as among 100", async () => {
  const server = await ownRedis();
  const client = plainClient(server.url);
  const store = new RedisStore(client);
  const fill = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1_000) {
      const count = Math.min(1_000, to - i);
      await store.rememberMany(Array.from({ length: count }, (_, k) => `id-${i + k}`));
    }
  };
  await fill(0, 100);
  const few: number[] = [];
  for (let round = 0; round < 5; round++) few.push(await microsecondsPerRead(store, client, 100));
  await fill(100, 100_000);
  const many: number[] = [];
  for (let round = 0; round < 5; round++) many.push(await microsecondsPerRead(store, client, 100_000));
  // A scan of a thousand times as many would take hundreds of times as long; the best of five is what the machine can do.
  expect(Math.min(...many)).toBeLessThan(Math.min(...few) * 10 + 5);
});
