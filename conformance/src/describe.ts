import { contractCases, type LeftOutCase, leftOutCases } from "./contract.ts";
import { type ContractCase, defaultDeadlineMs } from "./run-case.ts";
import type { Subject } from "./subject.ts";

/** What the suite needs of a test runner: the two functions that vitest, jest, mocha, bun and node:test have in common. */
export interface TestRunner {
  /** Opens a group of tests that `define` adds at once. */
  describe(title: string, define: () => void): unknown;
  /** Adds a test that fails when what `run` gives rejects, or is not there within `timeoutMs`. */
  it(title: string, run: () => Promise<void>, timeoutMs: number): unknown;
}

/** What was registered, and what was not. */
export interface RegisteredContract {
  /** The cases that are now tests. */
  readonly cases: readonly ContractCase[];
  /** The cases that the store lacks something for. */
  readonly leftOut: readonly LeftOutCase[];
}

/** Provisioning, the case, closing and destroying have a deadline each. A runner's limit comes behind all of them. */
const steps = 4;
const runnerGraceMs = 5_000;

/**
 * Registers every case that applies to the subject with a test runner, in one `describe` for each group. The title of the
 * suite names the capabilities whose cases are left out.
 *
 * @throws {TypeError} when this is not a subject; the message names the property at fault
 *
 * @example
 * import { describe, it } from "vitest";
 * describeStoreContract({ name: "MyStore", open: () => new MyStore(client) }, { describe, it });
 */
export function describeStoreContract<Backend, Tx>(
  subject: Subject<Backend, Tx>,
  { describe, it }: TestRunner,
): RegisteredContract {
  const cases = contractCases(subject);
  const leftOut = leftOutCases(subject);
  const timeoutMs = steps * (subject.deadlineMs ?? defaultDeadlineMs) + runnerGraceMs;
  const missing = [...new Set(leftOut.flatMap((contractCase) => contractCase.missing))];
  const suffix = missing.length > 0 ? ` (left out: ${missing.join(", ")})` : "";
  describe(`store contract of ${subject.name}${suffix}`, () => {
    for (const group of new Set(cases.map((contractCase) => contractCase.group))) {
      describe(group, () => {
        for (const contractCase of cases) {
          if (contractCase.group === group) register(it, contractCase, subject as Subject, timeoutMs);
        }
      });
    }
  });
  return { cases, leftOut };
}

function register(
  it: TestRunner["it"],
  contractCase: ContractCase,
  subject: Subject,
  timeoutMs: number,
): void {
  // No parameter: a runner that finds one waits for it to be called. Mocha takes its limit from `this` alone.
  it(
    contractCase.title,
    function (this: unknown): Promise<void> {
      const { timeout } = (this ?? {}) as { timeout?: unknown };
      if (typeof timeout === "function") timeout.call(this, timeoutMs);
      return contractCase.run(subject);
    },
    timeoutMs,
  );
}
