// Does every call at full speed for as many rounds as it is told, on ids of its own and on ids that it shares with others, and
// answers with the marks that must be there and with what failed.
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = "", name = ""] = process.argv;
// No retries: a deadlock would show.
const options = { table, maxConnections: 2, retries: 0 };
const store = await PostgresStore.connect(url, options);
const brief = await PostgresStore.connect(url, { ...options, ttlMs: 1 });

process.on("message", async (rounds: number) => {
  const marks: string[] = [];
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const own = `${name}-${round}`;
    const shared = `shared-${round % 10}`;
    try {
      await brief.rememberMany([`${own}-b`, `${own}-a`, "common-2", "common-1"]);
      await brief.claim(`${own}-left`, 1);
      const result = await brief.claim(shared, 5);
      if (result.status === "claimed") {
        await brief.renew(result.claim, 5);
        if (round % 2) await brief.commit(result.claim);
        else await brief.release(result.claim);
      }
      if (round % 2) await brief.remember(own);
      else await brief.forget(own);
      await store.transact(own, () => undefined);
      await store.remember(own);
      marks.push(own);
    } catch (error) {
      failures.push(String(error));
    }
  }
  process.send?.({ marks, failures });
});
process.send?.("ready");
