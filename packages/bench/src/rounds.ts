import type { RunningBackend } from "./backends.ts";
import type { Place } from "./contestant.ts";
import { type Backend, type Contestant, type Figures, type Kind, kinds } from "./contestant.ts";
import type { Cell } from "./results.ts";
import { spread } from "./statistics.ts";
import { type Length, Subject } from "./subject.ts";

export interface RoundsTerms {
  readonly rounds: number;
  readonly concurrencies: readonly number[];
  readonly length: Length;
  /** Is told what comes next. */
  readonly onProgress: (round: number, contestant: string) => void;
}

/** At most so many batches are in flight: with more, a round of batches of 100 would take longer than all others together. */
const mostBatches = 64;
/** How long a program that cannot count deliveries measures when a number of deliveries was asked for. */
const programMs = 50;

/**
 * Measures everybody once in every round (A B C, A B C, …), so that a machine that is slow for a while is slow for all. In every
 * round a contestant is opened anew, on a backend that is empty.
 */
export async function measureInRounds(
  contestants: readonly Contestant[],
  running: ReadonlyMap<Backend, RunningBackend>,
  terms: RoundsTerms,
): Promise<Cell[]> {
  const found = new Map<string, { at: Omit<Cell, "perSecond" | "p50Ms" | "p99Ms">; figures: Figures[] }>();
  for (let round = 1; round <= terms.rounds; round++) {
    for (const contestant of contestants) {
      terms.onProgress(round, contestant.name);
      const place = await requireBackend(running, contestant.backend).clear();
      for (const [concurrency, both] of await measure(contestant, place, terms)) {
        for (const kind of kinds) {
          const at = { contestant: contestant.name, concurrency, kind };
          const key = JSON.stringify(at);
          const cell = found.get(key) ?? { at, figures: [] };
          found.set(key, cell);
          cell.figures.push(both[kind]);
        }
      }
    }
  }
  return [...found.values()].map(({ at, figures }) => ({
    ...at,
    perSecond: spread(figures.map(({ perSecond }) => perSecond)),
    p50Ms: spread(figures.map(({ p50Ms }) => p50Ms)),
    p99Ms: spread(figures.map(({ p99Ms }) => p99Ms)),
  }));
}

async function measure(
  contestant: Contestant,
  place: Place,
  { concurrencies, length }: RoundsTerms,
): Promise<Map<number, Record<Kind, Figures>>> {
  const found = new Map<number, Record<Kind, Figures>>();
  if ("measure" in contestant) {
    const aboutMs = "aboutMs" in length ? length.aboutMs : programMs;
    for (const concurrency of concurrencies) {
      const first = await contestant.measure(place, "first", concurrency, aboutMs);
      const duplicate = await contestant.measure(place, "duplicate", concurrency, aboutMs);
      found.set(concurrency, { first, duplicate });
    }
    return found;
  }
  const subject = await Subject.open(contestant, place);
  try {
    for (const concurrency of concurrencies) {
      if ("batchSize" in contestant && concurrency > mostBatches) continue;
      found.set(concurrency, await subject.measure(concurrency, length));
    }
  } finally {
    await subject.close();
  }
  return found;
}

function requireBackend(running: ReadonlyMap<Backend, RunningBackend>, backend: Backend): RunningBackend {
  const found = running.get(backend);
  if (!found) throw new Error(`${backend} was not started.`);
  return found;
}
