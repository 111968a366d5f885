import type { Step } from "../plan/steps.ts";
import type { WorkerLog } from "./worker-log.ts";

/** How long a handler that cannot wait blocks at a step until something is done to its process, in milliseconds. */
const blockedMs = 1_500;

/** Holds a delivery at a step, so that what the harness does to the process hits it exactly there. */
export class HoldingPoint {
  readonly #log: WorkerLog;
  #armed: string | undefined;
  #release: () => void = () => {};

  constructor(log: WorkerLog) {
    this.#log = log;
  }

  /** The next delivery that comes to this step is held there. */
  arm(step: string): void {
    this.#armed = step;
  }

  release(): void {
    this.#armed = undefined;
    this.#release();
  }

  async pass(step: Step, delivery: number): Promise<void> {
    if (!this.#reached(step, delivery)) return;
    await new Promise<void>((resolve) => {
      this.#release = resolve;
    });
  }

  /** For a transaction that is synchronous: it stops the whole process, for a while at most. */
  passBlocking(step: Step, delivery: number): void {
    if (!this.#reached(step, delivery)) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs);
  }

  #reached(step: Step, delivery: number): boolean {
    if (this.#armed !== step) return false;
    this.#armed = undefined;
    this.#log.tell({ type: "held", delivery, step });
    return true;
  }
}
