// Remembers ids and waits for nothing.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", ...ids] = process.argv;
const store = await SqliteStore.connect(path);
for (const id of ids) void store.remember(id);
