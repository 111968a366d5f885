import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What the process holds when all that can go is gone, in bytes: objects of JavaScript, and the buffers that they own. */
export async function heldBytes(): Promise<number> {
  // Finalizers and what they let go come a turn later.
  for (let pass = 0; pass < 2; pass++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
