import type { Run } from "./broker.ts";
import type { Effects } from "./ledger.ts";

/** What the ledger says about the messages that have an id. */
export interface Verdict {
  /** Effects of one message → how many messages had as many, fewest first. */
  readonly histogram: ReadonlyMap<number, number>;
  /** The message that was killed between its effect and its mark, and so had two effects. */
  readonly caughtInGap: string | undefined;
  /** What should not have happened, a sentence each. */
  readonly faults: readonly string[];
}

/** Compares what the ledger counted with what was promised. */
export function judge({ record, marksAtEnd }: Run, effects: Effects): Verdict {
  const histogram = new Map<number, number>();
  const repeated: string[] = [];
  const lost: string[] = [];
  let done = 0;
  for (const [id, isDone] of record.done) {
    const count = effects.byId.get(id) ?? 0;
    histogram.set(count, (histogram.get(count) ?? 0) + 1);
    if (count > 1) repeated.push(id);
    if (isDone) done++;
    if (isDone && count === 0) lost.push(id);
  }
  // One worker does one thing at a time, so its end can fall between effect and mark for one message at most.
  const caughtInGap = repeated.find((id) => record.heldAtKill.has(id) && effects.byId.get(id) === 2);
  const tooMany = repeated.filter((id) => id !== caughtInGap);

  const faults: string[] = [];
  if (tooMany.length > 0) faults.push(`${messages(tooMany)} had more than one effect.`);
  if (lost.length > 0) faults.push(`${messages(lost)} counted as processed without an effect.`);
  if (marksAtEnd !== done) faults.push(`${done} messages were processed, but ${marksAtEnd} are marked.`);
  const [problem] = record.problems;
  if (problem !== undefined)
    faults.push(`The store failed ${record.problems.length} times. First: ${problem}`);
  return { histogram: new Map([...histogram].sort(([a], [b]) => a - b)), caughtInGap, faults };
}

function messages(ids: readonly string[]): string {
  const shown = ids.slice(0, 3).map(showId).join(", ");
  return ids.length === 1
    ? `Message ${shown}`
    : `${ids.length} messages (${shown}${ids.length > 3 ? ", …" : ""})`;
}

/** An id may hold anything: quoted, escaped, and cut when long. */
export function showId(id: string): string {
  return JSON.stringify(id.length > 60 ? `${id.slice(0, 60)}…` : id);
}
