import { StoreError } from "@bq/idempotency-core";
import { quoteId, requireIds } from "@bq/idempotency-core/backend";
import { isMark } from "./call.ts";
import { readMany, writeMany } from "./commands.ts";
import type { Session } from "./session.ts";
import { groupBySlot } from "./slots.ts";

/** Where the ids of a batch are kept. */
export interface Keys {
  /** The key that the store names; the client may put its own prefix before it. */
  of(id: string): string;
  /** The prefix of a cluster's client; `undefined` when all keys are on one server. */
  readonly clusterPrefix: string | undefined;
}

/** Which of these ids have a mark, in their order. */
export async function seenMany(session: Session, keys: Keys, ids: readonly string[]): Promise<boolean[]> {
  const found = new Map<string, boolean>();
  await Promise.all(
    groupsOf(ids, keys).map(async (group) => {
      const values = await session.run("seenMany", readMany(group.map(keys.of)));
      group.forEach((id, i) => {
        found.set(id, isMark((values as unknown[])[i], "seenMany", id));
      });
    }),
  );
  return ids.map((id) => found.get(id) === true);
}

/** Marks these ids: all or none of those that one command can name. */
export async function rememberMany(
  session: Session,
  keys: Keys,
  ids: readonly string[],
  ttlMs: number | undefined,
): Promise<void> {
  const groups = groupsOf(ids, keys);
  const outcomes = await Promise.allSettled(
    groups.map((group) => session.run("rememberMany", writeMany(group.map(keys.of), ttlMs))),
  );
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (!failure) return;
  if (groups.length === 1) throw failure.reason;
  const unmarked = groups.filter((_, i) => outcomes[i]?.status === "rejected").flat();
  throw new StoreError(
    `${unmarked.length} of ${groups.flat().length} ids could not be marked, ${quoteId(unmarked[0] ?? "")} among them; the others are. Repeating the call is safe. ${failure.reason.message}`,
    { operation: "rememberMany", code: failure.reason.code, cause: failure.reason },
  );
}

/** The ids without repetition, in groups that one command can name: all on a single server, those of one slot on a cluster. */
function groupsOf(ids: readonly string[], keys: Keys): string[][] {
  requireIds(ids);
  const distinct = [...new Set(ids)];
  const { clusterPrefix } = keys;
  if (clusterPrefix === undefined) return distinct.length > 0 ? [distinct] : [];
  return groupBySlot(distinct, (id) => clusterPrefix + keys.of(id));
}
