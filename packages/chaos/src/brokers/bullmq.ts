import { startProxy, startRedis } from "@bq/idempotency-test-servers";
import { Queue } from "bullmq";
import type { BrokerUnderTest } from "./broker-under-test.ts";

const queueName = "effects";

/** BullMQ on a Redis of its own, which keeps its jobs over a restart. */
export async function startBullMq(): Promise<BrokerUnderTest> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startRedis({ persistent: true }));
  const network = started.use(await startProxy(server));
  const connection = {
    host: server.host,
    port: server.port,
    maxRetriesPerRequest: null,
    retryStrategy: () => 50,
  };
  const queue = started.adopt(new Queue(queueName, { connection }), (open) => open.close());
  queue.on("error", () => {});
  const all = started.move();
  return {
    address: { host: network.host, port: network.port, queue: queueName },
    injure: {
      "broker-cut": async () => network.cutOnce(),
      "broker-restart": async () => {
        await server.kill();
        await server.restart();
      },
    },
    async send(message) {
      // A job is tried as often as it takes: one that is given up would be a lost message.
      const options = { attempts: 1_000, removeOnComplete: true };
      await queue.add("effect", message, options);
    },
    async backlog() {
      const counts = await queue.getJobCounts("waiting", "active", "delayed", "prioritized");
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    givenUp: () => queue.getFailedCount(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
