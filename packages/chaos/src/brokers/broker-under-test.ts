import type { BrokerFaultKind } from "../plan/planned-fault.ts";
import type { BrokerAddress } from "../worker/config.ts";
import type { ChaosMessage } from "../worker/message.ts";

/** The broker of one scenario, as the harness holds it. */
export interface BrokerUnderTest extends AsyncDisposable {
  /** Where the workers find it, past the network that the harness plays. */
  readonly address: BrokerAddress;
  readonly injure: Readonly<Record<BrokerFaultKind, () => Promise<void>>>;
  /** Resolves when the broker has the message; until then it is sent again. */
  send(message: ChaosMessage): Promise<void>;
  /** How many messages wait, those that were parked included. Those that a worker holds count where the broker tells them. */
  backlog(): Promise<number>;
  /** How many messages it has given up: each of them is lost. */
  givenUp(): Promise<number>;
}
