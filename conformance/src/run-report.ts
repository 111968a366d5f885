import { leftOutCases } from "./contract.ts";
import type { ContractCase } from "./run-case.ts";
import type { Subject } from "./subject.ts";

/** What the command prints to: a line at a time. */
export type Print = (line: string) => void;

/** Collects what goes wrong outside any call, such as an error event of a client that nobody listens to. */
export interface StrayErrors {
  take(): unknown[][];
}

/** Runs the cases one after another, prints what came of each, and resolves to the number of those that failed. */
export async function runReport(
  subject: Subject,
  cases: readonly ContractCase[],
  print: Print,
  strayErrors: StrayErrors,
): Promise<number> {
  const startedAt = performance.now();
  let failed = 0;
  let group: string | undefined;
  print(`${subject.name}: ${cases.length} cases`);
  for (const contractCase of cases) {
    if (contractCase.group !== group) print(`\n${contractCase.group}`);
    group = contractCase.group;
    const problems = await problemsOf(contractCase, subject, strayErrors);
    if (problems.length > 0) failed++;
    print(`  ${problems.length > 0 ? "FAILED" : "ok    "}  ${contractCase.title}  [${contractCase.id}]`);
    for (const problem of problems) for (const line of problem.split("\n")) print(`          ${line}`);
  }
  printLeftOut(subject, print);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  print(`\n${cases.length - failed} ok, ${failed} failed, in ${seconds} s`);
  return failed;
}

async function problemsOf(
  contractCase: ContractCase,
  subject: Subject,
  strayErrors: StrayErrors,
): Promise<string[]> {
  const problems: string[] = [];
  try {
    await contractCase.run(subject);
  } catch (error) {
    problems.push(describe(error));
  }
  for (const [error] of strayErrors.take()) problems.push(`outside any call: ${describe(error)}`);
  return problems;
}

/** An assertion says enough by its message; for any other error it matters where it comes from. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`;
  return error.name === "AssertionError" ? error.message : (error.stack ?? error.message);
}

function printLeftOut(subject: Subject, print: Print): void {
  const leftOut = leftOutCases(subject);
  if (leftOut.length === 0) return;
  print(`\nleft out: ${leftOut.length} cases`);
  const reasons = new Set(leftOut.map(({ missing }) => missing.join(", ")));
  for (const reason of reasons) {
    print(`  for want of ${reason}:`);
    const cases = leftOut.filter(({ missing }) => missing.join(", ") === reason);
    for (const { id, title } of cases) print(`          ${title}  [${id}]`);
  }
}
