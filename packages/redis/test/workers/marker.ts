import { RedisStore } from "../../src/index.ts";

/** Writes a mark and a claim, and tells the parent what time it believes it is. The target is an URL or a JSON list of nodes. */
const [target = "", prefix = ""] = process.argv.slice(2);
const store = await RedisStore.connect(target.startsWith("[") ? JSON.parse(target) : target, {
  prefix,
  ttlMs: 600_000,
});
await store.remember("marked");
await store.claim("claimed", 600_000);
process.stdout.write(`${Date.now()}\n`);
await store.close();
