import { type ClusterNode, RedisStore } from "../../src/index.ts";

/** What the parent says: which store, and which rounds to begin now. */
export interface Go {
  readonly target: string;
  readonly from: number;
  readonly count: number;
}

// One of several processes that claim the same id in each round; the parent says when, for several rounds at a time.
const [prefix = "", targets = ""] = process.argv.slice(2);
const stores = new Map<string, RedisStore>();
for (const [name, target] of Object.entries(JSON.parse(targets) as Record<string, string | ClusterNode[]>)) {
  stores.set(
    name,
    await RedisStore.connect(target, { prefix, connectTimeoutMs: 30_000, commandTimeoutMs: 30_000 }),
  );
}

process.on("message", async ({ target, from, count }: Go) => {
  const claims = Array.from({ length: count }, (_, i) =>
    stores.get(target)?.claim(`round-${from + i}`, 600_000),
  );
  process.send?.((await Promise.all(claims)).map((result) => result?.status));
});
process.on("disconnect", () => Promise.all([...stores.values()].map((store) => store.close())));
process.send?.("ready");
