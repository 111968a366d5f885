import { AssertionError } from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { mutants } from "../mutants/index.ts";
import { allCases, contractCases } from "../src/index.ts";

const caseOf = new Map(allCases.map((contractCase) => [contractCase.id, contractCase]));

describe("the suite catches", () => {
  it.for(mutants.map((mutant) => [`a store that ${mutant.does}`, mutant] as const))(
    "%s",
    async ([, { subject, caughtBy }]) => {
      for (const id of caughtBy) {
        const contractCase = caseOf.get(id);
        expect(contractCase, `the case ${id} exists`).toBeDefined();
        expect(contractCases(subject), `the case ${id} applies to the subject`).toContain(contractCase);
        const outcome = await contractCase?.run(subject).then(
          () => `${id} passed`,
          (error: unknown) => error,
        );
        expect(outcome, `${id} fails`).toBeInstanceOf(Error);
        // A case that only ran into its deadline has noticed nothing.
        if (!(outcome instanceof AssertionError)) expect(String(outcome)).not.toContain("did not end within");
      }
    },
  );
});

describe("no case is idle", () => {
  it.for(allCases.map(({ id }) => id))("%s catches a broken store", (id) => {
    expect(mutants.filter(({ caughtBy }) => caughtBy.includes(id)).map(({ does }) => does)).not.toEqual([]);
  });
});
