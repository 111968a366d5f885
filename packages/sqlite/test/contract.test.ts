import { describeStoreContract } from "@bq/idempotency-conformance";
import { describe, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { advance, lending, subject } from "./support/contract-subject.ts";

const owning = subject("SqliteStore with a connection of its own", ({ backend, ttlMs }) =>
  SqliteStore.connect(backend.path, { ttlMs }),
);

// The disk is waited for in one run of the suite: what survives its failure is not what the suite asks.
const borrowing = subject(
  "SqliteStore on a borrowed connection",
  lending((database) => {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = OFF");
  }),
);

/** Whatever an owner can set that changes how a driver or a statement answers. */
const headstrong = subject(
  "SqliteStore on a borrowed connection with big integers, unsafe mode and rows in reverse",
  lending((database) => {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = OFF");
    database.defaultSafeIntegers(true);
    database.unsafeMode(true);
    database.pragma("reverse_unordered_selects = ON");
    database.pragma("recursive_triggers = ON");
    database.exec("CREATE TEMP TABLE babelqueue_idempotency (message_id, note)");
  }),
);

for (const each of [owning, borrowing, headstrong])
  describeStoreContract({ ...each, advance }, { describe, it });
