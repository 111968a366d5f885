import { setTimeout as delay } from "node:timers/promises";

/** A condition that depends on other processes is met in this time, on a slow and busy machine too. */
const LIMIT_MS = 60_000;

/** Polls until the condition holds. @throws Error that names the condition, and what was thrown last, if any. */
export async function until(condition: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + LIMIT_MS;
  let cause: unknown;
  while (Date.now() < end) {
    try {
      if (await holds()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await delay(25);
  }
  throw new Error(`Not so after ${LIMIT_MS} ms: ${condition}`, { cause });
}
