// Runs the contract suite under node:test.
import { after, describe, it } from "node:test";
import { describeStoreContract } from "@bq/idempotency-conformance";
import { chosen, endAll } from "./chosen.mjs";

// One store after another, and one group of cases after another; the cases of a group share nothing.
let depth = 0;
const grouped = (name, register) => {
  depth += 1;
  describe(name, { concurrency: depth === 1 ? 1 : 4 }, register);
  depth -= 1;
};

const registered = chosen.map((subject) => describeStoreContract(subject, { describe: grouped, it }));
console.log(`registered ${registered.flatMap(({ cases }) => cases).length}`);
after(endAll);
