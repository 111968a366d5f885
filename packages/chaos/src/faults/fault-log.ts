import { nowMs } from "../clock.ts";
import type { PlannedFault } from "../plan/planned-fault.ts";
import type { Step } from "../plan/steps.ts";

/** What a replica knew when it took over: anything else that its master had acknowledged is lost. */
export interface Takeover {
  readonly atMs: number;
  /** The slots of the cluster that are concerned. */
  readonly slots: readonly [first: number, last: number];
  /** The ids of the marks that the replica had. */
  readonly marks: ReadonlySet<string>;
  /** The ids of the claims that it had. */
  readonly claims: ReadonlySet<string>;
}

/** A fault that was injected. */
export interface InjectedFault {
  readonly kind: PlannedFault["kind"] | "harness-stalled";
  readonly fromMs: number;
  /** When it was mended; a worker that was killed stays dead. */
  readonly untilMs: number;
  /** The worker process that it hit. */
  readonly worker?: string | undefined;
  readonly step?: Step | "anywhere" | undefined;
  readonly takeover?: Takeover | undefined;
}

/** Writes down what was injected, and what could not be because no worker came to the step in time. */
export class FaultLog {
  readonly injected: InjectedFault[] = [];
  notReached = 0;

  /** Injects a fault by `action`, which resolves when it is over; a failover tells what the replica knew. */
  async during(
    fault: Pick<InjectedFault, "kind" | "worker" | "step">,
    action: () => Promise<Takeover | undefined>,
  ): Promise<void> {
    const fromMs = nowMs();
    const takeover = await action();
    this.injected.push({ ...fault, takeover, fromMs, untilMs: nowMs() });
  }

  /** The harness got no processor for a while, and with it stood the network that it plays. */
  stalled(fromMs: number, untilMs: number): void {
    this.injected.push({ kind: "harness-stalled", fromMs, untilMs });
  }
}
