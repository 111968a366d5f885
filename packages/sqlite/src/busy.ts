/**
 * How long the driver may sleep on a lock by itself, in milliseconds: not at all. It sleeps on the event loop's thread, and
 * with many operations that wait even short sleeps would add up, one behind the other. The whole wait is made of pauses.
 */
export const driverWaitMs = 0;

const shortestPauseMs = 1;
const longestPauseMs = 25;

/** Is the database locked by another connection, so that the same statement may succeed a little later? */
export function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  // SQLITE_PROTOCOL: too many connections started to use the WAL at the same moment.
  return typeof code === "string" && (code.startsWith("SQLITE_BUSY") || code === "SQLITE_PROTOCOL");
}

/** Pauses before the next attempt: longer each time, and at random, so that waiting workers do not meet again and again. */
export function pauseAfter(attempts: number): Promise<void> {
  const ceiling = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(attempts, 10));
  return new Promise((resolve) => setTimeout(resolve, shortestPauseMs + Math.random() * ceiling));
}
