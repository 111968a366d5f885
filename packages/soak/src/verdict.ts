import type { Watched, Window } from "./watch.ts";

/**
 * The rule. The first windows, in which code is compiled and stores fill up, are left out. Of the others the first third is
 * compared with the last third:
 *
 * - **flat memory**: what the process holds, by the median of the windows, grew by no more than one byte per delivery made in
 *   between, and the noise
 * - **no slow-down**: in the fastest window a delivery takes no more than one and a half times the processor time, where a window
 *   took enough of that to tell. The fastest, for whatever else the machine does only ever adds to it
 */
export const rule: Readonly<
  Record<"warmUpWindows" | "bytesPerDelivery" | "noiseBytes" | "slowDown" | "leastCpuSeconds", number>
> = {
  warmUpWindows: 5,
  bytesPerDelivery: 1,
  /** What two looks at one idle process may differ by. */
  noiseBytes: 512 * 1_024,
  slowDown: 1.5,
  /** One garbage collection in a shorter window changes the figure by half. */
  leastCpuSeconds: 0.1,
};

export interface Verdict {
  readonly scene: string;
  readonly heldBefore: number;
  readonly heldAfter: number;
  readonly bytesPerDelivery: number;
  readonly cpuMicrosecondsBefore: number;
  readonly cpuMicrosecondsAfter: number;
  readonly perSecondBefore: number;
  readonly perSecondAfter: number;
  /** What is wrong, as sentences; empty: all is well. */
  readonly faults: readonly string[];
}

/** Judges a run by the rule. */
export function judge({ scene, windows }: Watched): Verdict {
  const judged = windows.slice(rule.warmUpWindows);
  const third = Math.floor(judged.length / 3);
  const [early, late] = [judged.slice(0, third), judged.slice(-third)];
  const between = (judged.length - third) * (judged[0]?.deliveries ?? 0);
  const heldBefore = medianOf(early, ({ heldBytes }) => heldBytes);
  const heldAfter = medianOf(late, ({ heldBytes }) => heldBytes);
  const grown = heldAfter - heldBefore;
  const cpuPer = (window: Window) => (window.cpuSeconds * 1e6) / window.deliveries;
  const cpuMicrosecondsBefore = Math.min(...early.map(cpuPer));
  const cpuMicrosecondsAfter = Math.min(...late.map(cpuPer));
  const perSecond = (window: Window) => window.deliveries / window.seconds;

  const faults: string[] = [];
  if (grown > between * rule.bytesPerDelivery + rule.noiseBytes) {
    faults.push(
      `The process held ${grown} bytes more after ${between} further deliveries, ${(grown / between).toFixed(1)} for each.`,
    );
  }
  const longEnough = medianOf(early, ({ cpuSeconds }) => cpuSeconds) >= rule.leastCpuSeconds;
  if (longEnough && cpuMicrosecondsAfter > cpuMicrosecondsBefore * rule.slowDown) {
    faults.push(
      `A delivery took ${cpuMicrosecondsAfter.toFixed(1)} µs of processor time at the end, after ${cpuMicrosecondsBefore.toFixed(1)} µs at first.`,
    );
  }
  return {
    scene,
    heldBefore,
    heldAfter,
    bytesPerDelivery: grown / between,
    cpuMicrosecondsBefore,
    cpuMicrosecondsAfter,
    perSecondBefore: medianOf(early, perSecond),
    perSecondAfter: medianOf(late, perSecond),
    faults,
  };
}

function medianOf(windows: readonly Window[], figure: (window: Window) => number): number {
  const sorted = windows.map(figure).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
