import { describe, it } from "vitest";
import { subjectOf } from "../mutants/mutant.ts";
import { describeStoreContract } from "../src/index.ts";

// The broken stores differ from these two in one place each: what fails for them must pass here.
describeStoreContract(subjectOf("the store that the broken ones are made from"), { describe, it });
describeStoreContract(subjectOf("the same with synchronous work", undefined, { work: "sync" }), {
  describe,
  it,
});
