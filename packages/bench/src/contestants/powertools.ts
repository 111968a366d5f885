import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { CachePersistenceLayer } from "@aws-lambda-powertools/idempotency/cache";
import { createClient } from "@redis/client";
import type { SingleContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

type LambdaContext = Parameters<IdempotencyConfig["registerLambdaContext"]>[0];

/** Powertools for AWS Lambda: its persistence layer for Redis, on the client that it is documented with. */
export const powertools: SingleContestant = {
  name: "redis/powertools",
  side: "peer",
  backend: "redis",
  mode: "claims",
  async open({ address }, effect) {
    const client = await createClient({ url: address }).connect();
    const config = new IdempotencyConfig({ eventKeyJmesPath: "id", expiresAfterSeconds: ttlMs / 1_000 });
    // Without the context of an invocation it warns on every call, and would be measured writing warnings.
    config.registerLambdaContext({ getRemainingTimeInMillis: () => 30_000 } as LambdaContext);
    const consume = makeIdempotent(async (_message: { id: string }) => effect(), {
      persistenceStore: new CachePersistenceLayer({ client }),
      config,
    });
    return {
      deliver: async (id) => consume({ id }),
      close: () => client.close(),
    };
  },
};
