import { RedisStore } from "../../src/index.ts";

/** Claims an id and then does nothing more, until it is killed. */
const [url = "", prefix = ""] = process.argv.slice(2);
const store = await RedisStore.connect(url, { prefix });
const { status } = await store.claim("1", 2_000);
process.send?.(status);
