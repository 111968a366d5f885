/** Where a worker can be caught with a delivery in its hands. */
export const steps = [
  /** The delivery has arrived, the store was not asked yet. */
  "before-handler",
  /** The handler has begun; there is no effect yet. */
  "in-handler",
  /** The effect is in the ledger (in its open transaction), the mark is not written. */
  "between-effect-and-mark",
  /** The mark is written, the broker does not know yet. */
  "between-mark-and-ack",
] as const;

export type Step = (typeof steps)[number];
