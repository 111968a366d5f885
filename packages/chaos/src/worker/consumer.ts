import type { BrokerAddress } from "./config.ts";
import type { Deliveries } from "./deliveries.ts";

export interface Consumer {
  /** Takes nothing more; resolves when what was in flight is settled. */
  stop(): Promise<void>;
}

export type Consume = (address: BrokerAddress, deliveries: Deliveries) => Promise<Consumer>;
