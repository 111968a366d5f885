// Runs the contract suite with a runner of a few lines, where node:test is not what it is in Node.
import { describeStoreContract } from "@bq/idempotency-conformance";
import { chosen, endAll } from "./chosen.mjs";

const cases = [];
const describe = (_name, register) => register();
const it = (title, run) => cases.push({ title, run });
for (const subject of chosen) describeStoreContract(subject, { describe, it });
console.log(`registered ${cases.length}`);

let passed = 0;
let failed = 0;

// Cases share nothing.
async function work() {
  for (let next = cases.shift(); next; next = cases.shift()) {
    try {
      await next.run();
      passed += 1;
    } catch (error) {
      failed += 1;
      console.log(`${next.title}\n${error.stack}`);
    }
  }
}

await Promise.all(Array.from({ length: 4 }, work));
await endAll();
console.log(`pass ${passed}\nfail ${failed}`);
process.exitCode = failed === 0 ? 0 : 1;
