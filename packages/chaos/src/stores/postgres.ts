import { faketime, startPostgres, startProxy } from "@bq/idempotency-test-servers";
import { serverFaults } from "../faults/server-faults.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export async function startPostgresStore(clock: string): Promise<StoreUnderTest> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startPostgres(clock === "" ? {} : { env: await faketime(clock) }));
  const directUrl = await server.createDatabase();
  const network = started.use(await startProxy(server));
  const url = new URL(directUrl);
  url.port = String(network.port);
  const all = started.move();
  return {
    address: { kind: "postgres", url: url.href },
    injure: serverFaults(server, network),
    directUrl,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
