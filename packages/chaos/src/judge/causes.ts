import slotOf from "cluster-key-slot";
import { keyOf } from "../stores/key.ts";
import { type Evidence, storeFaultBetween } from "./evidence.ts";
import type { Delivery, WorkerHistory } from "./history.ts";

/** Why an earlier effect of a message did not keep a later delivery from running the handler again. */
export interface Cause {
  readonly rule: "overlap" | "killed" | "mark-failed" | "outlived-lease" | "failover";
  /** What in the logs shows it. */
  readonly shownBy: string;
}

/** The leases of Redis and Postgres are in whole milliseconds, and so may end this much early. */
const roundingMs = 5;
/** A pause of a worker that can cost it a renewal in time, as a share of the lease. */
const stallShare = 1 / 3;

/**
 * The cause, if there is one that the rules allow. `earlier` and `later` both had their effect, in the order in which they
 * asked the store. `undefined`: the store let a message through that it should have known.
 */
export function causeOf(evidence: Evidence, earlier: Delivery, later: Delivery): Cause | undefined {
  switch (evidence.scenario.mode) {
    case "wrap":
      return (
        overlap(earlier, later) ??
        killed(evidence, earlier) ??
        markFailed(evidence, earlier) ??
        markLostInFailover(evidence, earlier, later)
      );
    case "wrapClaiming":
      return (
        (leaseCanBeOver(evidence, earlier, later)
          ? (killed(evidence, earlier) ??
            markFailed(evidence, earlier) ??
            outlivedLease(evidence, earlier, later))
          : undefined) ??
        markLostInFailover(evidence, earlier, later) ??
        claimLostInFailover(evidence, earlier, later)
      );
    case "wrapTransactional":
      return undefined;
  }
}

/** The later delivery asked the store before the mark of the earlier one was there. A seen-set cannot see that. */
function overlap(earlier: Delivery, later: Delivery): Cause | undefined {
  const askedAt = later.askingAtMs;
  if (askedAt === undefined || earlier.returnedAtMs === undefined || askedAt >= earlier.returnedAtMs) {
    // One that never returned is covered while it was under way, up to its end.
    return undefined;
  }
  return {
    rule: "overlap",
    shownBy: `${nameOf(later)} asked ${ms(earlier.returnedAtMs - askedAt)} before ${nameOf(earlier)} had its mark`,
  };
}

/** The worker of the earlier effect was killed before its wrapper returned, so nobody wrote the mark. */
function killed({ ends, faults }: Evidence, earlier: Delivery): Cause | undefined {
  if (earlier.returnedAtMs !== undefined || earlier.threw !== undefined) return undefined;
  const end = ends.find(({ name, how }) => name === earlier.worker && how === "killed");
  const fault = faults.find(({ kind, worker }) => kind === "kill" && worker === earlier.worker);
  if (end === undefined || fault === undefined) return undefined;
  return {
    rule: "killed",
    shownBy: `${earlier.worker} was killed (${earlier.heldAt ?? "anywhere"}) before ${nameOf(earlier)} returned`,
  };
}

/** The wrapper told that the mark could not be written, while the store was out of order. */
function markFailed({ faults }: Evidence, earlier: Delivery): Cause | undefined {
  const told = earlier.events.find(({ event }) => event === "mark-failed");
  if (told === undefined || earlier.effectAtMs === undefined) return undefined;
  const fault = storeFaultBetween(faults, earlier.effectAtMs, told.atMs);
  if (fault === undefined) return undefined;
  return { rule: "mark-failed", shownBy: `${nameOf(earlier)} was cut off from its store by ${fault.kind}` };
}

/** Nobody can have taken the id over before a lease after it was claimed. */
function leaseCanBeOver({ leaseMs }: Evidence, earlier: Delivery, later: Delivery): boolean {
  if (earlier.askingAtMs === undefined || later.handlingAtMs === undefined) return false;
  return later.handlingAtMs >= earlier.askingAtMs + leaseMs - roundingMs;
}

/**
 * The wrapper told that its claim was lost, the later delivery came before the mark, and there is a reason for the loss: the
 * worker stood still, or the store was out of order.
 */
function outlivedLease(evidence: Evidence, earlier: Delivery, later: Delivery): Cause | undefined {
  const { faults, leaseMs, workers } = evidence;
  const { askingAtMs, returnedAtMs } = earlier;
  const told = earlier.events.find(({ event }) => event === "claim-lost");
  if (told === undefined || askingAtMs === undefined) return undefined;
  // The commit of a lost claim marks as well, and nobody may run after that.
  if (returnedAtMs !== undefined && (later.askingAtMs ?? 0) >= returnedAtMs) return undefined;
  const stall = longestStall(workers, earlier.worker, askingAtMs, told.atMs);
  if (stall >= leaseMs * stallShare) {
    return { rule: "outlived-lease", shownBy: `${earlier.worker} stood still for ${ms(stall)}` };
  }
  const fault = storeFaultBetween(faults, askingAtMs, told.atMs);
  if (fault === undefined) return undefined;
  return { rule: "outlived-lease", shownBy: `${nameOf(earlier)} could not renew because of ${fault.kind}` };
}

function longestStall(
  workers: readonly WorkerHistory[],
  name: string,
  fromMs: number,
  untilMs: number,
): number {
  const stalls = workers.find((worker) => worker.name === name)?.stalls ?? [];
  const lengths = stalls
    .filter((stall) => stall.fromMs <= untilMs && stall.untilMs >= fromMs)
    .map((stall) => stall.untilMs - stall.fromMs);
  return Math.max(0, ...lengths);
}

/** The mark was acknowledged by a master that was killed before its replica had the mark. */
function markLostInFailover({ faults }: Evidence, earlier: Delivery, later: Delivery): Cause | undefined {
  const fault = faults.find(({ fromMs, takeover }) => {
    if (takeover === undefined || !concerns(takeover.slots, earlier.id)) return false;
    if (earlier.returnedAtMs === undefined || earlier.returnedAtMs > takeover.atMs) return false;
    return !takeover.marks.has(earlier.id) && (later.handlingAtMs ?? 0) > fromMs;
  });
  if (fault === undefined) return undefined;
  return {
    rule: "failover",
    shownBy: `the replica that took over did not have the mark of ${nameOf(earlier)}`,
  };
}

/** The same of a claim, which then kept nobody out while its holder was at work. */
function claimLostInFailover({ faults }: Evidence, earlier: Delivery, later: Delivery): Cause | undefined {
  const { askingAtMs, id, returnedAtMs } = earlier;
  const fault = faults.find(({ fromMs, takeover }) => {
    if (takeover === undefined || !concerns(takeover.slots, id)) return false;
    if (askingAtMs === undefined || askingAtMs > takeover.atMs) return false;
    if (takeover.marks.has(id) || takeover.claims.has(id)) return false;
    const before = returnedAtMs === undefined || (later.askingAtMs ?? 0) < returnedAtMs;
    return before && (later.handlingAtMs ?? 0) > fromMs;
  });
  if (fault === undefined) return undefined;
  return {
    rule: "failover",
    shownBy: `the replica that took over did not have the claim of ${nameOf(earlier)}`,
  };
}

function concerns([first, last]: readonly [number, number], id: string): boolean {
  const slot = slotOf(keyOf(id));
  return slot >= first && slot <= last;
}

function nameOf({ worker, number }: Delivery): string {
  return `${worker}#${number}`;
}

function ms(length: number): string {
  return `${Math.round(length)} ms`;
}
