import type { Outcome } from "./protocol.ts";

/** How deliveries ended. `unanswered`: the worker was killed before it settled them. */
export interface Tally extends Record<Outcome, number> {
  deliveries: number;
  unanswered: number;
}

export function emptyTally(): Tally {
  return { deliveries: 0, ran: 0, skipped: 0, unidentified: 0, failed: 0, unanswered: 0 };
}

export function addTallies(a: Readonly<Tally>, b: Readonly<Tally>): Tally {
  const sum = emptyTally();
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] = a[name] + b[name];
  return sum;
}
