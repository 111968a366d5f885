import type { Settings } from "./options.ts";
import { readState, type State } from "./state.ts";
import type { Statements } from "./statements.ts";

/** What the id is now. */
export function look(statements: Statements, key: string): State {
  return readState(key, statements.read.get(key), Date.now());
}

/** Writes the mark from any state. */
export function writeMark(statements: Statements, key: string, settings: Settings): void {
  const now = Date.now();
  statements.mark.run(key, now, expiry(now, settings));
}

/** When a mark that is written now expires. */
export function expiry(now: number, { ttlMs }: Settings): number | null {
  return ttlMs === undefined ? null : now + ttlMs;
}
