import { batchMutants } from "./batch.ts";
import { claimMutants } from "./claims.ts";
import { idMutants } from "./ids.ts";
import type { Mutant } from "./mutant.ts";
import { raceMutants } from "./races.ts";
import { seenSetMutants } from "./seen-set.ts";
import { stateTableMutants } from "./state-table.ts";
import { transactionMutants } from "./transactions.ts";
import { ttlMutants } from "./ttl.ts";
import { withinMutants } from "./within.ts";

/** Every broken store. */
export const mutants: readonly Mutant[] = [
  ...seenSetMutants,
  ...idMutants,
  ...ttlMutants,
  ...batchMutants,
  ...stateTableMutants,
  ...claimMutants,
  ...raceMutants,
  ...transactionMutants,
  ...withinMutants,
];
