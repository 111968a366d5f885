import { RedisStore } from "../../src/index.ts";

/** Writes a mark and a claim, and tells the parent what time it believes it is. */
const [url = "", prefix = ""] = process.argv.slice(2);
const store = await RedisStore.connect(url, { prefix, ttlMs: 600_000 });
await store.remember("marked");
await store.claim("claimed", 600_000);
process.stdout.write(`${Date.now()}\n`);
await store.close();
