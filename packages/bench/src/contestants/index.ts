import { backends, type Contestant } from "../contestant.ts";
import { keyv } from "./keyv.ts";
import { limitPostgres } from "./limit-postgres.ts";
import { limitRedis } from "./limit-redis.ts";
import { limitSqlite } from "./limit-sqlite.ts";
import { nodeIdempotency } from "./node-idempotency.ts";
import { ours } from "./ours.ts";
import { plainMap } from "./plain-map.ts";
import { plainPostgres } from "./plain-postgres.ts";
import { plainPostgresTransaction } from "./plain-postgres-transaction.ts";
import { plainRedis } from "./plain-redis.ts";
import { plainSqlite } from "./plain-sqlite.ts";
import { powertools } from "./powertools.ts";
import { redisSemaphore } from "./redis-semaphore.ts";

const all: readonly Contestant[] = [
  plainMap,
  plainSqlite,
  plainRedis,
  plainPostgres,
  plainPostgresTransaction,
  ...ours,
  powertools,
  redisSemaphore,
  nodeIdempotency,
  keyv,
  limitSqlite,
  limitRedis,
  limitPostgres,
];

/** Everybody who takes part, backend by backend, in the order in which they are measured and shown. */
export const contestants: readonly Contestant[] = backends.flatMap((backend) =>
  all.filter((contestant) => contestant.backend === backend),
);
