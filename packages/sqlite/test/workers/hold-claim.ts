// Claims an id, tells the claim, and does nothing more.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", id = "", leaseMs = "0"] = process.argv;
const store = await SqliteStore.connect(path);
process.send?.(await store.claim(id, Number(leaseMs)));
setInterval(() => undefined, 60_000);
