import type { Takeover } from "../faults/fault-log.ts";
import type { StoreFaultKind } from "../plan/planned-fault.ts";
import type { StoreAddress } from "../worker/config.ts";

/** Does a fault to the store, for as long as it is to last; resolves when it is mended. */
export type Injure = (forMs: number) => Promise<Takeover | undefined>;

/** A store with its servers, as the harness holds it. */
export interface StoreUnderTest extends AsyncDisposable {
  /** Where the workers find it, past the network that the harness plays. */
  readonly address: StoreAddress;
  /** The faults that it can suffer. */
  readonly injure: Readonly<Partial<Record<StoreFaultKind, Injure>>>;
  /** Where the harness reaches the database itself, if an effect can commit with its mark there. */
  readonly directUrl?: string | undefined;
}
