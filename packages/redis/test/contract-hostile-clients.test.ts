import { describeStoreContract } from "@bq/idempotency-conformance";
import { Redis, type RedisOptions } from "ioredis";
import { Redis as Redis5, type RedisOptions as RedisOptions5 } from "ioredis5";
import { describe, it } from "vitest";
import { sharedUrl } from "./support/servers.ts";
import { borrowedClientSubject } from "./support/subject.ts";

const concurrent = { describe, it: it.concurrent };

/** What an owner may have asked of a client, each of which changes what comes back or when it is sent. */
const peculiar = {
  keyPrefix: "owner:{tag}:",
  stringNumbers: true,
  enableAutoPipelining: true,
  showFriendlyErrorStack: true,
  lazyConnect: true,
} satisfies RedisOptions & RedisOptions5;

describeStoreContract(
  borrowedClientSubject(
    "RedisStore on a peculiar client of ioredis 6",
    () => new Redis(sharedUrl, { ...peculiar, replyMapping: "resp3" }),
  ),
  concurrent,
);
describeStoreContract(
  borrowedClientSubject(
    "RedisStore on a peculiar client of ioredis 5",
    () => new Redis5(sharedUrl, peculiar),
  ),
  concurrent,
);
