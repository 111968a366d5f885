import { RedisStore } from "../../src/index.ts";

/** One of several processes that claim the same id in each round; the parent says when, for several rounds at a time. */
const [target, prefix] = JSON.parse(process.argv[2] ?? "") as [
  string | { host: string; port: number }[],
  string,
];
const store = await RedisStore.connect(target, { prefix });

process.on("message", async ({ from, count }: { from: number; count: number }) => {
  const rounds = Array.from({ length: count }, (_, i) => store.claim(`round-${from + i}`, 600_000));
  process.send?.((await Promise.all(rounds)).map(({ status }) => status));
});
process.on("disconnect", () => store.close());
process.send?.("ready");
