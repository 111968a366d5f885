import { randomBytes } from "node:crypto";
import { Bench } from "./bench.ts";
import type { CaseDefinition, Group, Need } from "./cases/definition.ts";
import { beforeDeadline } from "./deadline.ts";
import type { Subject } from "./subject.ts";

/** One rule of the store contract, as a test of its own. */
export interface ContractCase {
  /** Stable, `group/name`, such as `ttl/expires`. */
  readonly id: string;
  /** The rule, as a sentence that is true of a right store. */
  readonly title: string;
  /** The part of the contract that the rule belongs to. */
  readonly group: Group;
  /** What the subject must have for this case to apply. */
  readonly needs: readonly Need[];
  /** Runs the case on a backend of its own. Rejects with an `AssertionError`, or with what the subject or the store threw. */
  run(subject: Subject): Promise<void>;
}

/** The longest that one step of a case may take, in milliseconds, when the subject does not say. */
export const defaultDeadlineMs = 30_000;

/** Makes a case that can be run of one that is written down. */
export function toContractCase(definition: CaseDefinition): ContractCase {
  const { id, title, needs } = definition;
  // The type of an id guarantees a group before the slash.
  const group = id.slice(0, id.indexOf("/")) as Group;
  return Object.freeze({
    id,
    title,
    group,
    needs,
    run: (subject: Subject) => runCase(subject, definition),
  });
}

/** Provisions, runs, closes and destroys, each within its own deadline. The first failure is the one that is told. */
export async function runCase(
  subject: Subject,
  { ttlMs, body }: Pick<CaseDefinition, "ttlMs" | "body">,
): Promise<void> {
  const limitMs = subject.deadlineMs ?? defaultDeadlineMs;
  const place = { namespace: `bq${randomBytes(11).toString("hex")}`, ttlMs };
  const destroy = async (backend: unknown) => subject.destroy?.(backend, { ...place, backend });

  const backend = await beforeDeadline({
    what: `provision() of ${subject.name}`,
    limitMs,
    start: () => subject.provision?.(place),
    // It comes too late for the case, but it is there, and has to go.
    onLate: destroy,
  });
  const bench = new Bench(subject, { ...place, backend });

  const failures: unknown[][] = [];
  const attempt = async (what: string, start: () => Promise<unknown>) => {
    await beforeDeadline({ what, limitMs, start }).catch((error: unknown) => failures.push([error]));
  };
  await attempt(`The case on ${subject.name}`, () => body(bench));
  await attempt(`Closing the handles of ${subject.name}`, () => bench.closeAll());
  await attempt(`destroy() of ${subject.name}`, () => destroy(backend));
  // An array around each, because a store may throw undefined.
  for (const [error] of failures) throw error;
}
