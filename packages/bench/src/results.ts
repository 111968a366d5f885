import type { Backend, Kind, Mode, Side } from "./contestant.ts";
import type { Growth } from "./growth.ts";
import type { PurgePace } from "./purge-pace.ts";
import type { Spread } from "./statistics.ts";

/** All that one run found out: what is written as JSON, and what the table and the chart are made from. */
export interface Results {
  readonly schemaVersion: 1;
  /** When the run began, as ISO 8601. */
  readonly startedAt: string;
  readonly profile: "short" | "full";
  readonly rounds: number;
  readonly machine: Machine;
  readonly contestants: readonly ContestantInfo[];
  readonly cells: readonly Cell[];
  /** Contestants that could not take part, and why. */
  readonly absent: readonly { readonly name: string; readonly reason: string }[];
  readonly growth?: Growth;
  readonly purge?: PurgePace;
}

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly processors: number;
  readonly backends: Partial<Record<Backend, string>>;
  /** The load average of the minute before and of the last minute of the run: on a busy machine no figure means much. */
  readonly load: { readonly before: number; readonly after: number };
}

export interface ContestantInfo {
  readonly name: string;
  readonly side: Side;
  readonly backend: Backend;
  readonly mode: Mode;
  /** Deliveries per call. */
  readonly batchSize: number;
}

/** One contestant, at one concurrency, for one kind of deliveries. */
export interface Cell {
  readonly contestant: string;
  /** Calls in flight. */
  readonly concurrency: number;
  readonly kind: Kind;
  /** Deliveries per second. */
  readonly perSecond: Spread;
  /** Latency of a call, in milliseconds. */
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
}

export function findCell(
  cells: readonly Cell[],
  contestant: string,
  concurrency: number,
  kind: Kind,
): Cell | undefined {
  return cells.find(
    (cell) => cell.contestant === contestant && cell.concurrency === concurrency && cell.kind === kind,
  );
}

/** The name of the store that the others of a backend are compared with. */
export function plainOf(backend: Backend): string {
  return `${backend}/plain`;
}

/** The results as JSON, each contestant and cell on a line of its own, with five digits of every figure: the others are noise. */
export function formatResults(results: Results): string {
  const compact = (value: unknown) =>
    JSON.stringify(value, (_key, part) => (typeof part === "number" ? Number(part.toPrecision(5)) : part));
  const members = Object.entries(results).map(([key, value]) => {
    if (!Array.isArray(value) || value.length === 0) return `${JSON.stringify(key)}: ${compact(value)}`;
    return `${JSON.stringify(key)}: [\n    ${value.map(compact).join(",\n    ")}\n  ]`;
  });
  return `{\n  ${members.join(",\n  ")}\n}\n`;
}
