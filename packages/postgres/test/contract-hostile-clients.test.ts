import { describeStoreContract } from "@bq/idempotency-conformance";
import postgres from "postgres";
import { describe, it } from "vitest";
import { sharedUrl } from "./support/database.ts";
import { borrowedClientSubject, withMovedClock } from "./support/subject.ts";

// What an owner may have asked of a client, each of which changes what goes out or what comes back.

const oid = { bool: 16, int8: 20, int4: 23, text: 25, json: 114, timestamp: 1184, jsonb: 3802 };

/** Parsers that make every value truthy, and serializers that lose what they are given. */
function peculiarType(to: number): postgres.PostgresType {
  return { to, from: [to], serialize: () => "lost", parse: (text: string) => ({ text }) };
}

type ClientOptions = NonNullable<Parameters<typeof postgres>[1]>;

const profiles: Record<string, ClientOptions> = {
  "types and transforms of everything": {
    types: Object.fromEntries(Object.entries(oid).map(([name, number]) => [name, peculiarType(number)])),
    transform: {
      undefined: null,
      column: (name) => name.toUpperCase(),
      value: () => "replaced",
      row: (row: object) => Object.fromEntries(Object.entries(row).map(([key, value]) => [`_${key}`, value])),
    },
  },
  "camelCase, no array types, nothing prepared, serializable transactions": {
    transform: postgres.camel,
    fetch_types: false,
    prepare: false,
    debug: () => {},
    connection: { default_transaction_isolation: "serializable" },
  },
};

for (const [name, options] of Object.entries(profiles)) {
  describeStoreContract(
    withMovedClock(
      borrowedClientSubject(
        `PostgresStore on a client with ${name}`,
        postgres(sharedUrl, { max: 16, onnotice() {}, ...options }),
      ),
    ),
    { describe, it: it.concurrent },
  );
}
