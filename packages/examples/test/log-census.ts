import { readFileSync } from "node:fs";

/** What a log holds, counted without the code of the demo. */
export interface Census {
  readonly deliveries: number;
  readonly ids: Set<string>;
  /** Ids with at least one delivery that does not throw. */
  readonly succeeding: Set<string>;
  /** Deliveries without a usable id that do not throw. */
  readonly unguarded: number;
  /** Deliveries that throw if they are let run, in the order of the log. */
  readonly failing: number;
}

export interface LogLine {
  readonly job: string;
  readonly trace_id: string;
  readonly data: { readonly throws?: "always" | number; readonly text?: string };
  readonly meta: {
    readonly id?: unknown;
    readonly queue: string;
    readonly lang: string;
    readonly schema_version: number;
    readonly created_at: number;
  };
  readonly attempts: number;
}

export function readLines(path: string): LogLine[] {
  const text = readFileSync(path, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogLine);
}

export function takeCensus(lines: readonly LogLine[]): Census {
  const ids = new Set<string>();
  const succeeding = new Set<string>();
  let unguarded = 0;
  let failing = 0;
  for (const { meta, data, attempts } of lines) {
    const id = typeof meta.id === "string" && meta.id.length > 0 ? meta.id : undefined;
    const fails = data.throws === "always" || (data.throws !== undefined && attempts < data.throws);
    if (id !== undefined) ids.add(id);
    if (fails && (id === undefined || !succeeding.has(id))) failing++;
    else if (!fails && id === undefined) unguarded++;
    else if (!fails && id !== undefined) succeeding.add(id);
  }
  return { deliveries: lines.length, ids, succeeding, unguarded, failing };
}
