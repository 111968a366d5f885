import { RedisStore } from "../../src/index.ts";

/** One of several processes that claim the same id in each round, when the parent says so. */
const [target, prefix] = JSON.parse(process.argv[2] ?? "") as [
  string | { host: string; port: number }[],
  string,
];
const store = await RedisStore.connect(target, { prefix });

process.on("message", async (round: number) => {
  const { status } = await store.claim(`round-${round}`, 60_000);
  process.send?.(status);
});
process.on("disconnect", () => store.close());
process.send?.("ready");
