/** How long a run is, and what follows from that for each of its scenarios. */
export interface Length {
  readonly minutes: number;
  readonly scenarios: number;
}

/** One lane for each broker; the scenarios of a lane run one after another. */
const lanes = 2;
/** Starting servers and workers, letting the last deliveries come to rest, and ending all, in milliseconds. */
const overheadMs = 8_000;
const shortestWindowMs = 4_000;
const messagesPerMinute = 10_000 / 3;
const messagesPerShortMinute = 1_600;

/** A run of less than this many minutes has no time for every store and mode on both brokers. */
export const minutesForAll = 3;

/** For how long a scenario's messages are sent and its faults injected, in milliseconds. */
export function windowMsOf({ minutes, scenarios }: Length): number {
  const eachMs = (minutes * 60_000) / Math.max(1, Math.ceil(scenarios / lanes));
  return Math.max(shortestWindowMs, Math.round(eachMs - overheadMs));
}

/** A short run has fewer workers, for starting them is most of its work. */
export function workersOf({ minutes }: Length): number {
  return minutes < minutesForAll ? 3 : 8;
}

export function messagesOf({ minutes, scenarios }: Length): number {
  const perMinute = minutes < minutesForAll ? messagesPerShortMinute : messagesPerMinute;
  return Math.max(20, Math.ceil((minutes * perMinute) / scenarios));
}
