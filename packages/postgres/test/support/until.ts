import { setTimeout as pause } from "node:timers/promises";

/** Resolves when the condition holds. The test's own time limit ends a wait that is in vain. */
export async function until(condition: () => boolean | PromiseLike<boolean>): Promise<void> {
  while (!(await condition())) await pause(10);
}
