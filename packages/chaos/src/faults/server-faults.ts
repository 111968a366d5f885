import { setTimeout as pause } from "node:timers/promises";
import type { Proxy as Network } from "@bq/idempotency-test-servers";
import type { StoreFaultKind } from "../plan/planned-fault.ts";
import type { Injure } from "../stores/store-under-test.ts";

interface Restartable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** What a server with a network in front of it can suffer. */
export function serverFaults(
  server: Restartable,
  network: Network,
): Record<Exclude<StoreFaultKind, "store-failover" | "store-lock">, Injure> {
  return {
    async "store-kill"(forMs) {
      await server.kill();
      await pause(forMs);
      await server.restart();
      return undefined;
    },
    async "store-restart"() {
      await server.restart();
      return undefined;
    },
    async "store-cut"(forMs) {
      await network.cut();
      await pause(forMs);
      await network.heal();
      return undefined;
    },
    async "store-black-hole"(forMs) {
      network.blackHole();
      await pause(forMs);
      await network.heal();
      return undefined;
    },
  };
}
