import { describeStoreContract } from "@bq/idempotency-conformance";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { describe, it } from "vitest";
import { sharedUrl } from "./support/servers.ts";
import { borrowedClientSubject, ownConnectionSubject } from "./support/subject.ts";

const concurrent = { describe, it: it.concurrent };

describeStoreContract(ownConnectionSubject("RedisStore.connect", sharedUrl), concurrent);
describeStoreContract(
  borrowedClientSubject("RedisStore on ioredis 6", () => new Redis(sharedUrl)),
  concurrent,
);
describeStoreContract(
  borrowedClientSubject("RedisStore on ioredis 5", () => new Redis5(sharedUrl)),
  concurrent,
);
