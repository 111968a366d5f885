import { parseArgs } from "node:util";
import type { Scene } from "./scene.ts";

export interface SoakArguments {
  readonly task: "run" | "list" | "help";
  /** Only scenes whose name holds one of these; empty: all. */
  readonly only: readonly string[];
  /** Instead of the number that each scene has; `undefined`: that one. */
  readonly deliveries: number | undefined;
  readonly folder: string | undefined;
}

/** The command line asks for something that the soak does not do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `Usage: pnpm soak [--deliveries N] [--only NAME]…

Makes two million deliveries and more in one process, for each wrapper in memory and on Redis, and fails when the process
holds more memory at the end than at first, or a delivery takes longer.

  --deliveries N   so many deliveries for each, at least 1000
  --only NAME      only those whose name holds NAME, such as redis or wrapClaiming; may be repeated
  --folder FOLDER  where to write the results (default: results/ of this package; a run that was narrowed by the options above
                   goes to results/partial/)
  --list           print the names
  --help           print this

Exit codes: 0 all is well; 1 memory grew, or deliveries became slower; 2 the command line is wrong.
`;

/** @throws {UsageError} for an unknown option or a bad value */
export function readArguments(args: readonly string[]): SoakArguments {
  const values = parse(args);
  return {
    task: values.help ? "help" : values.list ? "list" : "run",
    only: values.only ?? [],
    deliveries: values.deliveries === undefined ? undefined : atLeastAThousand(values.deliveries),
    folder: values.folder,
  };
}

/** @throws {UsageError} for a name that no scene has */
export function select(scenes: readonly Scene[], only: readonly string[]): readonly Scene[] {
  for (const part of only) {
    if (scenes.some(({ name }) => name.includes(part))) continue;
    throw new UsageError(`--only ${part}: there are ${scenes.map(({ name }) => name).join(", ")}.`);
  }
  return scenes.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        deliveries: { type: "string" },
        only: { type: "string", multiple: true },
        folder: { type: "string" },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function atLeastAThousand(text: string): number {
  if (/^\d{4,9}$/.test(text)) return Number(text);
  throw new UsageError(
    `--deliveries must be a whole number from 1000 to 999999999, got ${JSON.stringify(text)}.`,
  );
}
