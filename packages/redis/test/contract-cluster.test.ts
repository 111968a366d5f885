import { describeStoreContract } from "@bq/idempotency-conformance";
import { Cluster } from "ioredis5";
import { describe, it } from "vitest";
import { sharedNodes } from "./support/servers.ts";
import { borrowedClientSubject, ownConnectionSubject } from "./support/subject.ts";

const concurrent = { describe, it: it.concurrent };

describeStoreContract(ownConnectionSubject("RedisStore.connect to a cluster", sharedNodes), concurrent);

/** Is asked by ioredis where a read shall go. A replica may not know a mark yet, so the store must never let it ask. */
function scaleReads(): never {
  throw new Error("a read was about to be sent to any node");
}

describeStoreContract(
  borrowedClientSubject(
    "RedisStore on a peculiar cluster client of ioredis 5",
    () => new Cluster(sharedNodes, { keyPrefix: "owner:", enableAutoPipelining: true, scaleReads }),
  ),
  concurrent,
);
