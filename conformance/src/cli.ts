import { parseArgs } from "node:util";
import { contractCases } from "./contract.ts";
import { loadSubject, UsageError } from "./load-subject.ts";
import { ManifestError } from "./manifest.ts";
import { manifestCases } from "./run-manifest.ts";
import { runReport } from "./run-report.ts";

const usage = `Usage: bq-conformance MODULE [--manifest FILE]

Runs the store contract of @bq/idempotency on a store of your own.

  MODULE            a module that exports a subject, as "subject" or as its default:
                    JavaScript (ESM or CommonJS), or TypeScript where Node runs it
  --manifest FILE   replay the sequences of this BabelQueue conformance manifest
                    instead of those that come with the suite
  --help            print this

Exit code: 0 when every case passed, 1 when one failed, 2 when the command was given
something it cannot work with.
`;

/** The manifest of this package: from src and from dist it is one folder up. */
const ownManifest = new URL("../manifest.json", import.meta.url);

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const [path, ...rest] = positionals;
  if (path === undefined) throw new UsageError(`No module was given.\n\n${usage}`);
  if (rest.length > 0)
    throw new UsageError(`One module at a time, but also got ${rest.join(" ")}.\n\n${usage}`);

  const strayErrors = listenForStrayErrors();
  const subject = await loadSubject(path);
  const cases = [...contractCases(subject), ...manifestCases(values.manifest ?? ownManifest)];
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  return (await runReport(subject, cases, print, strayErrors)) > 0 ? 1 : 0;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { manifest: { type: "string" }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}

/** An error that nobody catches belongs to the case in which it came up, and must not end the run. */
function listenForStrayErrors() {
  let errors: unknown[][] = [];
  process.on("uncaughtException", (error) => errors.push([error]));
  return {
    take() {
      const taken = errors;
      errors = [];
      return taken;
    },
  };
}

let exitCode: number;
try {
  exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ManifestError)) throw error;
  process.stderr.write(`bq-conformance: ${error.message.trimEnd()}\n`);
  exitCode = 2;
}
// What was printed goes out first; then the process ends, whatever socket or timer the store has left behind.
process.stdout.write("", () => process.exit(exitCode));
