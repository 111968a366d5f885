// Opens the file, table and all, when it is told to, and answers with what went wrong.
import { SqliteStore } from "../../src/index.ts";

const [, , path = ""] = process.argv;
process.on("message", async () => {
  try {
    const store = await SqliteStore.connect(path);
    await store.remember(`by-${process.pid}`);
    await store.close();
    process.send?.("");
  } catch (error) {
    process.send?.(String(error));
  }
});
process.send?.("ready");
