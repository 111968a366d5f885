// Works on one message under a short lease until it is told to go on, and tells what it learns.
import { wrapClaiming } from "@bq/idempotency-core";
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = "", end = ""] = process.argv;
const tell = (what: string) => process.send?.(what);
const store = await PostgresStore.connect(url, { table });
const handler = async (_message: object, { signal }: { signal: AbortSignal }) => {
  signal.addEventListener("abort", () => tell(signal.reason.code));
  const goOn = new Promise((resolve) => process.once("message", resolve));
  tell("started");
  await goOn;
  if (end === "fails") throw new Error("declined");
};
const deliver = wrapClaiming(store, handler, { leaseMs: 1_500, observe: ({ type }) => tell(type) });
await deliver({ meta: { id: "id" } }).catch(() => {});
await store.close();
tell("settled");
process.disconnect();
