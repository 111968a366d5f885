// Runs the contract suite under node:test. Copied into the project of the run.
import { after, describe, it } from "node:test";
import { describeStoreContract } from "@bq/idempotency-conformance";
import { chosen } from "./subjects.mjs";

// Cases share nothing, and many of them wait for time to pass.
const concurrently = (name, register) => describe(name, { concurrency: 16 }, register);

for (const subject of chosen) describeStoreContract(subject, { describe: concurrently, it });
after(() => Promise.all(chosen.map((subject) => subject.end?.())));
