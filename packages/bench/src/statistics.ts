/** The middle of several measurements, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Each of them, in the order in which they were made. */
  readonly rounds: readonly number[];
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  const upper = at(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (at(sorted, middle - 1) + upper) / 2;
}

/** The smallest value that at least `share` (over 0, at most 1) of all values do not exceed. */
export function percentile(values: ArrayLike<number>, share: number): number {
  if (!(share > 0 && share <= 1)) throw new RangeError(`share must be over 0 and at most 1, got ${share}.`);
  const sorted = ascending(values);
  return at(sorted, Math.ceil(share * sorted.length) - 1);
}

export function spread(rounds: readonly number[]): Spread {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds };
}

/**
 * How many times as much `these` are as `those`, round by round: the two of a round were measured shortly after each other, so
 * what slowed the machine in that round slowed both.
 */
export function ratio(these: readonly number[], those: readonly number[]): Spread {
  if (these.length !== those.length) {
    throw new RangeError(`${these.length} rounds cannot be compared with ${those.length}.`);
  }
  return spread(these.map((value, round) => value / at(those, round)));
}

function ascending(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).sort();
}

function at(values: ArrayLike<number>, index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError("There are no values.");
  return value;
}
