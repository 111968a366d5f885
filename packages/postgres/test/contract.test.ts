import { describeStoreContract } from "@bq/idempotency-conformance";
import { describe, it } from "vitest";
import { ownConnectionSubject } from "./support/subject.ts";

describeStoreContract(ownConnectionSubject("PostgresStore.connect"), { describe, it: it.concurrent });
