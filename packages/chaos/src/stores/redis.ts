import { startProxy, startRedis } from "@bq/idempotency-test-servers";
import { serverFaults } from "../faults/server-faults.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** A Redis that writes every command to its disk before it answers, so that a restart takes no mark back. */
export async function startRedisStore(): Promise<StoreUnderTest> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startRedis({ persistent: true }));
  const network = started.use(await startProxy(server));
  const all = started.move();
  return {
    address: { kind: "redis", url: `redis://${network.host}:${network.port}` },
    injure: serverFaults(server, network),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
