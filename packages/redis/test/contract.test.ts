import { describeStoreContract } from "@bq/idempotency-conformance";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { describe, it } from "vitest";
import { sharedRedis } from "./support/servers.ts";
import { borrowedClientSubject, ownConnectionSubject } from "./support/subject.ts";

const url = await sharedRedis();
const concurrent = { describe, it: it.concurrent };

describeStoreContract(ownConnectionSubject("RedisStore.connect", url), concurrent);
describeStoreContract(
  borrowedClientSubject("RedisStore on ioredis 6", () => new Redis(url)),
  concurrent,
);
describeStoreContract(
  borrowedClientSubject("RedisStore on ioredis 5", () => new Redis5(url)),
  concurrent,
);
