import { parseArgs } from "node:util";
import type { Contestant } from "./contestant.ts";
import type { Length } from "./subject.ts";

export interface BenchArguments {
  readonly profile: "short" | "full";
  /** Only contestants whose name holds one of these; empty: all. */
  readonly only: readonly string[];
  readonly rounds: number;
  readonly concurrencies: readonly number[];
  readonly length: Length;
  /** Where to write the results, or `undefined`: the folder of this package. */
  readonly folder: string | undefined;
  readonly task: "run" | "list" | "draw" | "help";
}

/** The command line asks for something that the benchmark does not do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `Usage: pnpm bench [--full] [--only NAME]…

Measures deliveries per second and latency of our stores, of what one would write by hand or install instead, and of the
limit of each backend, all in one run and by the same loop.

  --full              longer and more rounds, and how a big table and a purge change it (about half an hour; without it, two minutes)
  --only NAME         only contestants whose name holds NAME, such as redis, wrap or powertools; may be repeated. The plain
                      store of their backend runs along, to compare with
  --rounds N          so many rounds
  --concurrency N,N   so many calls in flight, instead of 1,64,256
  --deliveries N      exactly so many deliveries a measurement, instead of about so many milliseconds
  --folder FOLDER     where to write the results (default: results/ of this package; a run that was narrowed by the options above
                      goes to results/partial/)
  --draw              draw the chart of the last results again, and measure nothing
  --list              print the names of the contestants
  --help              print this

Exit codes: 0 all was measured; 1 something failed; 2 the command line is wrong.
`;

const profiles = {
  short: { rounds: 3, aboutMs: 150 },
  full: { rounds: 7, aboutMs: 1_000 },
} as const;

/** @throws {UsageError} for an unknown option or a bad value */
export function readArguments(args: readonly string[]): BenchArguments {
  const values = parse(args);
  const profile = values.full ? "full" : "short";
  const { rounds, aboutMs } = profiles[profile];
  const deliveries = values.deliveries === undefined ? undefined : whole("deliveries", values.deliveries);
  return {
    profile,
    only: values.only ?? [],
    rounds: values.rounds === undefined ? rounds : whole("rounds", values.rounds),
    concurrencies: (values.concurrency ?? "1,64,256").split(",").map((each) => whole("concurrency", each)),
    length: deliveries === undefined ? { aboutMs } : { deliveries },
    folder: values.folder,
    task: values.help ? "help" : values.list ? "list" : values.draw ? "draw" : "run",
  };
}

/** Was anything left out or changed, so that the results are not those of the whole benchmark? */
export function isNarrowed({ only, rounds, concurrencies, length, profile }: BenchArguments): boolean {
  return (
    only.length > 0 ||
    rounds !== profiles[profile].rounds ||
    concurrencies.join() !== "1,64,256" ||
    "deliveries" in length
  );
}

/**
 * Those whose name holds one of `only`, and the plain store of each of their backends.
 *
 * @throws {UsageError} for a name that nobody has
 */
export function select(all: readonly Contestant[], only: readonly string[]): Contestant[] {
  for (const name of only) {
    if (all.some((contestant) => contestant.name.includes(name))) continue;
    const names = all.map((contestant) => contestant.name).join(", ");
    throw new UsageError(`--only ${name}: no contestant has that in its name. There are: ${names}.`);
  }
  const chosen = all.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  const concerned = new Set(chosen.map(({ backend }) => backend));
  return all.filter(
    (contestant) =>
      chosen.includes(contestant) || (contestant.side === "plain" && concerned.has(contestant.backend)),
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        full: { type: "boolean", default: false },
        only: { type: "string", multiple: true },
        rounds: { type: "string" },
        concurrency: { type: "string" },
        deliveries: { type: "string" },
        folder: { type: "string" },
        draw: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    // The first sentence says what is wrong; the rest explains a syntax that nobody needs here.
    const [reason = ""] = (error as Error).message.split(/(?<=['’])\. /);
    throw new UsageError(reason, { cause: error });
  }
}

function whole(option: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 10_000_000) {
    throw new UsageError(
      `--${option} must be a whole number from 1 to 10000000, got ${JSON.stringify(text)}.`,
    );
  }
  return value;
}
