import type { Evidence } from "./evidence.ts";
import type { WorkerHistory } from "./history.ts";

/** A worker loads its libraries lazily, and compiles what is hot, for about this long after its start. */
const warmUpMs = 3_000;
/** Below this a growth of the heap says nothing, in bytes. */
const allowedGrowth = 12 * 2 ** 20;

/** How the workers behaved: whether any crashed, hung, grew, or left an error that nobody caught. */
export function findMisconduct({ ends, workers, disorder }: Evidence): string[] {
  return [
    ...ends.filter(({ how }) => how === "crashed").map(crashed),
    ...ends.filter(({ how }) => how === "hung").map(({ name }) => `${name} did not stop when it was told to`),
    ...workers.flatMap(({ name, unhandled }) =>
      unhandled.map((error) => `${name} had an error that nobody caught: ${error}`),
    ),
    ...workers.filter((worker) => growthOf(worker) > allowedGrowth).map(grew),
    ...disorder,
  ];
}

/** By how much the heap of a worker grew after its warm-up, in bytes: each reading is taken after a garbage collection. */
export function growthOf({ heap }: WorkerHistory): number {
  const start = heap[0]?.atMs ?? 0;
  const warm = heap.filter(({ atMs }) => atMs >= start + warmUpMs).map(({ bytes }) => bytes);
  const half = Math.floor(warm.length / 2);
  if (half === 0) return 0;
  // A single reading may be high because deliveries are in flight: the least of each half is what stays.
  return Math.min(...warm.slice(half)) - Math.min(...warm.slice(0, half));
}

function crashed({ name, lastWords }: { name: string; lastWords?: string | undefined }): string {
  return `${name} ended by itself${lastWords ? `: ${lastWords}` : ""}`;
}

function grew(worker: WorkerHistory): string {
  return `${worker.name}: its heap grew by ${Math.round(growthOf(worker) / 2 ** 20)} MiB`;
}
