/**
 * Milliseconds on the machine's monotonic clock. It is one clock for all processes, and a wall clock that is wrong does not
 * move it, so what workers and harness write down can be put in one order.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
