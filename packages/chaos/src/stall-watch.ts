import { nowMs } from "./clock.ts";

const tickMs = 50;
const stallMs = 200;

/** Tells each time that this process got no processor for a while. @returns ends it */
export function watchForStalls(onStall: (sinceMs: number, untilMs: number) => void): () => void {
  let lastMs = nowMs();
  const timer = setInterval(() => {
    const sinceMs = lastMs;
    lastMs = nowMs();
    if (lastMs - sinceMs > stallMs + tickMs) onStall(sinceMs, lastMs);
  }, tickMs);
  timer.unref();
  return () => clearInterval(timer);
}
