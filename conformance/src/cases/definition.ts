import type { Bench } from "../bench.ts";
import type { Capability } from "../subject.ts";

/** The chapters of the contract; `manifest` holds what a manifest adds. */
export type Group = "seen-set" | "ids" | "ttl" | "batch" | "claims" | "races" | "transactions" | "manifest";

/** What a case needs: a capability of the store, or a property of its transactions. */
export type Need = Capability | "sync-work" | "async-work" | "closing-tx";

/** A case as it is written down in this folder. */
export interface CaseDefinition {
  readonly id: `${Group}/${string}`;
  readonly title: string;
  readonly needs: readonly Need[];
  /** The TTL, in milliseconds, of every handle in the case. Without it marks never expire. */
  readonly ttlMs?: number;
  readonly body: (bench: Bench) => Promise<void>;
}

/** A lease that does not lapse while a case runs, in milliseconds. */
export const longLeaseMs = 600_000;

/** A lease that is meant to lapse, in milliseconds. */
export const shortLeaseMs = 200;

/** A TTL that is meant to run out, in milliseconds. */
export const shortTtlMs = 200;
