import { setTimeout as pause } from "node:timers/promises";

/** Asks again and again until the answer is true; fails with the sentence after the limit. */
export async function until(
  sentence: string,
  ask: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(`${sentence}: not so after ${limitMs} ms`);
    await pause(10);
  }
}
