// Begins what it is told to, says so, and waits to be killed.
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = "", what = ""] = process.argv;
const store = await PostgresStore.connect(url, { table, applicationName: table });
if (what === "claim") {
  await store.claim("id", 600_000);
  process.send?.("claimed");
} else {
  await store.transact("id", async (tx) => {
    await tx.unsafe(`INSERT INTO "${table}_effects" VALUES ('of the killed worker')`);
    process.send?.("written");
    await new Promise(() => {});
  });
}
