import { batchCases } from "./cases/batch.ts";
import { claimCases } from "./cases/claims.ts";
import type { CaseDefinition, Need } from "./cases/definition.ts";
import { idCases } from "./cases/ids.ts";
import { raceCases } from "./cases/races.ts";
import { seenSetCases } from "./cases/seen-set.ts";
import { transactionCases } from "./cases/transactions.ts";
import { ttlCases } from "./cases/ttl.ts";
import { type ContractCase, toContractCase } from "./run-case.ts";
import { requireSubject, type Subject } from "./subject.ts";

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

/** A case that does not apply to a subject. */
export interface LeftOutCase extends ContractCase {
  /** What the subject would need for it. */
  readonly missing: readonly Need[];
}

/** The cases that do not apply to the subject. */
export function leftOutCases<Backend, Tx>(subject: Subject<Backend, Tx>): LeftOutCase[] {
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
