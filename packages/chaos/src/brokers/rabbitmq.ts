import { setTimeout as pause } from "node:timers/promises";
import { type RabbitMqServer, startProxy } from "@bq/idempotency-test-servers";
import type { BrokerUnderTest } from "./broker-under-test.ts";
import { RabbitMqProducer } from "./rabbitmq-producer.ts";

/** The broker writes a declaration to its disk a little after it has confirmed it, at the latest after this many milliseconds. */
const declarationMs = 4_000;

/** A queue of its own on a RabbitMQ that the scenarios use one after another, for it takes long to start. */
export async function openRabbitMq(server: RabbitMqServer, queue: string): Promise<BrokerUnderTest> {
  await using started = new AsyncDisposableStack();
  const network = started.use(await startProxy(server));
  const producer = started.adopt(new RabbitMqProducer(server.url, queue), (open) => open.close());
  await producer.declare();
  const declared = pause(declarationMs);
  const all = started.move();
  return {
    address: { host: network.host, port: network.port, queue },
    injure: {
      "broker-cut": async () => network.cutOnce(),
      "broker-restart": async () => {
        await declared;
        await server.restart();
      },
    },
    send: (message) => producer.send(message),
    backlog: () => producer.backlog(),
    // No limit is set after which a message would end among dead letters.
    givenUp: async () => 0,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
