import { heldBytes } from "./memory.ts";
import { countOutcomes, type Outcomes, type Place, type Scene } from "./scene.ts";
import { Traffic } from "./traffic.ts";

/** One part of a run. */
export interface Window {
  readonly deliveries: number;
  /** What the process holds at its end, after a garbage collection. */
  readonly heldBytes: number;
  readonly seconds: number;
  /** Processor time of this process, in seconds: unlike the other, a busy machine hardly changes it. */
  readonly cpuSeconds: number;
}

export interface Watched {
  readonly scene: string;
  readonly deliveries: number;
  readonly windows: readonly Window[];
  readonly outcomes: Outcomes;
  /** The most that the process had in memory at any time, in bytes. */
  readonly peakResidentBytes: number;
}

/** Into how many parts of the same size a run is cut. */
const windowCount = 20;

/** Runs a scene in this process, and looks at the process after every window. */
export async function watch(scene: Scene, deliveries: number, url: Place["url"]): Promise<Watched> {
  const { outcomes, observe } = countOutcomes();
  const { deliver, close } = await scene.open({ url, deliveries, observe });
  const traffic = new Traffic("soak");
  const size = Math.ceil(deliveries / windowCount);
  const windows: Window[] = [];
  for (let number = 0; number < windowCount; number++) {
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    await deliver(traffic, size);
    const { user, system } = process.cpuUsage(cpuBefore);
    const seconds = (performance.now() - startedAt) / 1_000;
    windows.push({
      deliveries: size,
      seconds,
      cpuSeconds: (user + system) / 1e6,
      heldBytes: await heldBytes(),
    });
  }
  await close();
  const made = size * windowCount;
  const told = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  if (told !== made)
    throw new Error(`${scene.name}: ${made} deliveries were made, and ${told} were told of.`);
  return {
    scene: scene.name,
    deliveries: made,
    windows,
    outcomes,
    peakResidentBytes: process.resourceUsage().maxRSS * 1_024,
  };
}
