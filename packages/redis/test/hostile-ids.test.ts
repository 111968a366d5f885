import { distinctIds } from "@bq/idempotency-conformance";
import { storageKey } from "@bq/idempotency-core";
import fc from "fast-check";
import { Cluster } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { type RedisClient, RedisStore } from "../src/index.ts";
import { freshPrefix, nodeUrl, plainClient, sharedNodes, sharedUrl } from "./support/servers.ts";

/** What ids are made of here: those of the suite, and pieces that mean something to the protocol or to a script. */
const pieces = [
  ...distinctIds.filter((id) => id.length < 1_000),
  ...["{tag}", "{{", "[^a]", "\\*", "\r\nFLUSHALL\r\n", "\r\n*1\r\n$8\r\nFLUSHALL\r\n", "$-1\r\n", "+OK"],
  ...["KEYS[1]", "ARGV[1]", "' .. redis.call('FLUSHALL') .. '", '")', "]]", "claim:", "n", "sha256:"],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(""))
  .filter((joined) => joined !== "");
const wellFormed = text.filter((joined) => Buffer.from(joined).toString() === joined);
const ids = fc.uniqueArray(text, { minLength: 2, maxLength: 12 });

it.each([
  ["one server", () => plainClient(sharedUrl), [sharedUrl], 150],
  ["a cluster", openCluster, sharedNodes.map((node) => nodeUrl(node)), 60],
] as const)(
  "on %s an id touches its own key alone, whatever it and the prefix are made of",
  async (_, open, urls, numRuns) => {
    const client = open() as unknown as RedisClient & Pick<Cluster, "set" | "get">;
    const servers = urls.map((url) => plainClient(url));
    const keysIn = async (space: string) =>
      (await Promise.all(servers.map((server) => server.keys(`${space}*`)))).flat().sort();

    await fc.assert(
      fc.asyncProperty(wellFormed, ids, async (tail, given) => {
        const space = freshPrefix();
        const prefix = `${space}p${tail}`;
        const neighbour = `${space}n`;
        await client.set(neighbour, "untouched");
        const store = new RedisStore(client, { prefix });
        const keyOf = (id: string) => prefix + storageKey(id);
        const half = Math.ceil(given.length / 2);
        const [marked, claimed] = [given.slice(0, half), given.slice(half)];

        await Promise.all(marked.slice(1).map((id) => store.remember(id)));
        await store.rememberMany(marked);
        const results = await Promise.all(claimed.map((id) => store.claim(id, 600_000)));
        expect(results.map(({ status }) => status)).toEqual(claimed.map(() => "claimed"));
        expect(await store.seenMany(given)).toEqual(given.map((id) => marked.includes(id)));
        expect(await keysIn(space)).toEqual([...given.map(keyOf), neighbour].sort());

        for (const result of results) if (result.status === "claimed") await store.release(result.claim);
        expect(await keysIn(space)).toEqual([...marked.map(keyOf), neighbour].sort());
        await Promise.all(given.map((id) => store.forget(id)));
        expect(await keysIn(space)).toEqual([neighbour]);
        expect(await client.get(neighbour)).toBe("untouched");
      }),
      { numRuns },
    );
  },
);

function openCluster(): Cluster {
  const cluster = new Cluster(sharedNodes);
  onTestFinished(() => cluster.disconnect());
  return cluster;
}
