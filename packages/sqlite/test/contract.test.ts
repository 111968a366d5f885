import { describeStoreContract } from "@bq/idempotency-conformance";
import { describe, it } from "vitest";
import { SqliteStore } from "../src/index.ts";
import { subject } from "./support/contract-subject.ts";

const owning = subject("SqliteStore with a connection of its own", ({ backend, ttlMs }) =>
  SqliteStore.connect(backend.path, { ttlMs }),
);

describeStoreContract(owning, { describe, it });
