import { describeStoreContract } from "@bq/idempotency-conformance";
import { describe, it } from "vitest";
import { sharedPgBouncer } from "./support/database.ts";
import { ownConnectionSubject, withMovedClock } from "./support/subject.ts";

const { url } = await sharedPgBouncer();

describeStoreContract(
  withMovedClock(
    ownConnectionSubject("PostgresStore through PgBouncer in transaction mode", { prepare: false }, url),
  ),
  { describe, it: it.concurrent },
);
