import { randomBytes } from "node:crypto";
import { Bench } from "./bench.ts";
import { batchCases } from "./cases/batch.ts";
import { claimCases } from "./cases/claims.ts";
import type { CaseDefinition, Group, Need } from "./cases/definition.ts";
import { idCases } from "./cases/ids.ts";
import { raceCases } from "./cases/races.ts";
import { seenSetCases } from "./cases/seen-set.ts";
import { transactionCases } from "./cases/transactions.ts";
import { ttlCases } from "./cases/ttl.ts";
import { beforeDeadline } from "./deadline.ts";
import { requireSubject, type Subject } from "./subject.ts";

/** One rule of the store contract, as a test of its own. */
export interface ContractCase {
  /** Stable, `group/name`, such as `ttl/expires`. */
  readonly id: string;
  /** The rule, as a sentence that is true of a right store. */
  readonly title: string;
  readonly group: Group;
  /** What the subject must have for this case to apply. */
  readonly needs: readonly Need[];
  /** Runs the case on a backend of its own. Rejects with an `AssertionError`, or with what the subject or the store threw. */
  run(subject: Subject): Promise<void>;
}

const defaultDeadlineMs = 30_000;

const definitions: readonly CaseDefinition[] = [
  ...seenSetCases,
  ...idCases,
  ...ttlCases,
  ...batchCases,
  ...claimCases,
  ...raceCases,
  ...transactionCases,
];

/** Every case of the contract, in the order in which they run. */
export const allCases: readonly ContractCase[] = definitions.map(toContractCase);

/**
 * The cases that apply to the subject, by its capabilities.
 *
 * @throws {TypeError} when this is not a subject; the message names the property at fault
 */
export function contractCases<Backend, Tx>(subject: Subject<Backend, Tx>): ContractCase[] {
  const had = needsMet(subject);
  return allCases.filter(({ needs }) => needs.every((need) => had.has(need)));
}

/** The cases that do not apply to the subject; `missing` says what it would need for them. */
export function leftOutCases<Backend, Tx>(
  subject: Subject<Backend, Tx>,
): (ContractCase & { readonly missing: readonly Need[] })[] {
  const had = needsMet(subject);
  return allCases.flatMap((contractCase) => {
    const missing = contractCase.needs.filter((need) => !had.has(need));
    return missing.length > 0 ? [{ ...contractCase, missing }] : [];
  });
}

function needsMet<Backend, Tx>(subject: Subject<Backend, Tx>): Set<Need> {
  requireSubject(subject);
  const { capabilities = [], transactions } = subject;
  const met = new Set<Need>(capabilities);
  if (transactions) met.add(`${transactions.work}-work`);
  if (transactions?.closesTx) met.add("closing-tx");
  return met;
}

function toContractCase(definition: CaseDefinition): ContractCase {
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
async function runCase(subject: Subject, { ttlMs, body }: CaseDefinition): Promise<void> {
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
