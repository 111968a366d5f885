import { setTimeout as pause } from "node:timers/promises";
import { isTransient } from "./sqlstate.ts";

/** Pauses grow by this much, in milliseconds, and are cut by chance, so that the parties of a conflict part ways. */
const pauseStepMs = 10;

/** Tries again, up to `retries` times, what failed for a reason that passes: a serialization failure or a deadlock, if not said otherwise. */
export async function retrying<T>(
  retries: number,
  attempt: () => Promise<T>,
  passes: (error: unknown) => boolean = isTransient,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!passes(error) || ++failures > retries) throw error;
      await pause(Math.random() * pauseStepMs * 2 ** failures);
    }
  }
}
