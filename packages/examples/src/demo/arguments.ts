import { parseArgs } from "node:util";

export interface DemoArguments {
  /** The user's log, `-` for standard input, or `undefined`: the log that is shipped. */
  readonly file: string | undefined;
  readonly gap: boolean;
  readonly help: boolean;
}

/** The command line asks for something that the demo does not do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `Usage: npm run demo [-- [--gap] [FILE | -]]

Feeds a delivery log through wrap(store, handler) on a SQLite file, kills the worker in the middle (SIGKILL), starts it
again, and prints what happened.

  FILE     a log of your own: JSON Lines, one delivery a line, its id in meta.id ("-": standard input)
           without it: the log that comes with the demo
  --gap    kill the worker exactly between an effect and its mark: the one case in which a message has two effects
  --help   print this

The handler enters an effect into a ledger. It throws instead when the message asks for it: data.throws is "always", or a
number that is greater than the delivery's "attempts".

Exit codes: 0 all is well; 1 some lines were malformed (each is reported with its number, and skipped); 2 the command
line is wrong or the log cannot be read; 3 a message had an effect too many or too few, or the store failed.
`;

/** @throws {UsageError} for an unknown option or a second file */
export function readArguments(args: readonly string[]): DemoArguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        gap: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const [file, second] = positionals;
    if (second !== undefined) throw new UsageError(`One log at a time, got ${positionals.length}.`);
    if (file === "") throw new UsageError("The name of the log is empty.");
    return { file, gap: values.gap, help: values.help };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The first sentence says what is wrong; the rest explains a syntax that nobody needs here.
    const [reason = ""] = (error as Error).message.split(/(?<=['’])\. /);
    throw new UsageError(reason, { cause: error });
  }
}
