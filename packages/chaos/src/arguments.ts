import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { minutesForAll } from "./plan/length.ts";
import {
  allScenarios,
  type BrokerName,
  brokers,
  halfOfTheScenarios,
  type Mode,
  modes,
  nameOf,
  type Scenario,
  type StoreName,
  stores,
} from "./scenarios.ts";
import { type Breakage, breakages } from "./worker/config.ts";

export interface ChaosArguments {
  readonly task: "run" | "help";
  readonly minutes: number;
  readonly seed: number;
  /** All scenarios of a run of this length. */
  readonly scenarios: readonly Scenario[];
  /** Those of them that are to be run. */
  readonly chosen: readonly Scenario[];
  /** Where to write the report, or `undefined`: to the folder of this package. */
  readonly json: string | undefined;
  readonly breakage: Breakage | undefined;
  /** Where the workers' logs are to stay, or `undefined`: they are removed. */
  readonly logs: string | undefined;
}

/** The command line asks for something that the harness does not do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage: string = `Usage: pnpm chaos [--minutes N] [--seed N] [--store NAME]… [--mode NAME]… [--broker NAME]… [--json FILE]

Lets 8 workers consume messages from a real broker while workers are killed and suspended, and stores, brokers and the network
fail; counts in a database how many effects were lost or doubled, and explains each double.

  --minutes N    about how long to run, from 1 to 600 (default 3). Below ${minutesForAll}, 3 workers, and each store and mode on one broker
  --seed N       repeats the plan of the run with this seed, from 0 to 4294967295 (default: one of chance; the report names it)
  --store NAME   only this store: ${stores.join(", ")}. May be repeated
  --mode NAME    only this wrapper: ${modes.join(", ")}. May be repeated
  --broker NAME  only this broker: ${brokers.join(", ")}. May be repeated; then every store and mode on it, however short
  --json FILE    where to write the report as JSON (default: reports/chaos.json of this package)
  --logs FOLDER  keeps the logs of the workers there, to look into a double
  --break HOW    breaks the store on purpose, to see the run fail: forgetful writes no marks, generous gives everybody every claim
  --help         print this

Exit codes: 0 nothing was lost, and every double is explained; 1 something was; 2 the command line is wrong.
`;

const largestSeed = 2 ** 32 - 1;
const mostMinutes = 600;

/** @throws {UsageError} for an unknown option or a bad value */
export function readArguments(args: readonly string[]): ChaosArguments {
  const values = parse(args);
  const minutes = number("minutes", values.minutes ?? "3", { from: 1, to: mostMinutes });
  const inShort = minutes < minutesForAll && values.broker === undefined;
  const scenarios = inShort ? halfOfTheScenarios : allScenarios;
  return {
    task: values.help ? "help" : "run",
    minutes,
    seed:
      values.seed === undefined
        ? randomInt(largestSeed)
        : number("seed", values.seed, { from: 0, to: largestSeed, whole: true }),
    scenarios,
    chosen: choose(scenarios, values),
    json: values.json,
    logs: values.logs,
    breakage: values.break === undefined ? undefined : oneOf("break", values.break, breakages),
  };
}

/** @throws {UsageError} when there is none that fits */
function choose(
  scenarios: readonly Scenario[],
  { store, mode, broker }: { store?: string[]; mode?: string[]; broker?: string[] },
): Scenario[] {
  const inStores = store?.map((each): StoreName => oneOf("store", each, stores)) ?? stores;
  const inModes = mode?.map((each): Mode => oneOf("mode", each, modes)) ?? modes;
  const onBrokers = broker?.map((each): BrokerName => oneOf("broker", each, brokers)) ?? brokers;
  const chosen = scenarios.filter(
    (each) => inStores.includes(each.store) && inModes.includes(each.mode) && onBrokers.includes(each.broker),
  );
  if (chosen.length > 0) return chosen;
  throw new UsageError(
    `There is no such scenario in a run of this length. There are: ${scenarios.map(nameOf).join(", ")}.`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        minutes: { type: "string" },
        seed: { type: "string" },
        store: { type: "string", multiple: true },
        mode: { type: "string", multiple: true },
        broker: { type: "string", multiple: true },
        json: { type: "string" },
        break: { type: "string" },
        logs: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    // The first sentence says what is wrong; the rest explains a syntax that nobody needs here.
    const [reason = ""] = (error as Error).message.split(/(?<=['’])\. /);
    throw new UsageError(reason, { cause: error });
  }
}

function number(option: string, text: string, range: { from: number; to: number; whole?: boolean }): number {
  const value = Number(text);
  const fits = value >= range.from && value <= range.to && (!range.whole || Number.isInteger(value));
  if (/^\d+(\.\d+)?$/.test(text) && fits) return value;
  const kind = range.whole ? "a whole number" : "a number";
  throw new UsageError(
    `--${option} must be ${kind} from ${range.from} to ${range.to}, got ${JSON.stringify(text)}.`,
  );
}

function oneOf<const Choice extends string>(
  option: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${option} must be one of ${choices.join(", ")}, got ${JSON.stringify(text)}.`);
}
