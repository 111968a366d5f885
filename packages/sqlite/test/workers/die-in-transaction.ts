// Kills itself in the middle of the work of a transaction.
import { SqliteStore } from "../../src/index.ts";

const [, , path = "", id = ""] = process.argv;
const store = await SqliteStore.connect(path);
process.on("message", async () => {
  await store.transact(id, (tx) => {
    tx.exec("CREATE TABLE effects (note TEXT)");
    tx.exec("INSERT INTO effects VALUES ('half done')");
    process.kill(process.pid, "SIGKILL");
    for (;;);
  });
});
process.send?.("ready");
