import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { PostgresStore } from "@bq/idempotency-postgres";
import postgres from "postgres";
import type { Place } from "./contestant.ts";
import { percentile } from "./statistics.ts";

export interface PurgeTerms {
  /** Marks that have expired when the measurement begins. */
  readonly expiredMarks: number;
  /** How long `seen` is watched, once without the purge and once with it, in milliseconds. */
  readonly watchMs: number;
}

/** Does the purge keep up with the marks that come in, and what does it cost the deliveries beside it? */
export interface PurgePace {
  readonly inflowPerSecond: number;
  readonly purgedPerSecond: number;
  readonly expiredBefore: number;
  readonly expiredAfter: number;
  readonly p99MsWithout: number;
  readonly p99MsWith: number;
}

const table = "marks_purged";
const writers = 32;
/** So short that what comes in during the measurement expires during it. */
const ttlMs = 1_000;
const purgeEveryMs = 200;

/** Lets marks come in as fast as they can, all soon expired, and watches `seen` without and with a purge beside it. */
export async function measurePurgePace(
  place: Place,
  { expiredMarks, watchMs }: PurgeTerms,
): Promise<PurgePace> {
  const sql = postgres(place.address, { max: 1, onnotice() {} });
  const store = await PostgresStore.connect(place.address, { table, ttlMs, maxConnections: 20 });
  const count = async () => {
    const [row] = await sql`
      SELECT count(*)::int AS rows, (count(*) FILTER (WHERE expires_at <= now()))::int AS expired
      FROM ${sql(table)}`;
    return { rows: Number(row?.rows), expired: Number(row?.expired) };
  };
  try {
    await store.migrate();
    await sql`
      INSERT INTO ${sql(table)} (message_id, expires_at)
      SELECT gen_random_uuid()::text, now() - interval '1 minute' FROM generate_series(1, ${expiredMarks})`;
    await sql`VACUUM ANALYZE ${sql(table)}`;
    const without = await watchUnderLoad(store, watchMs);

    const before = await count();
    let failure: unknown;
    const stop = store.purgeEvery(purgeEveryMs, {
      onError: (error) => {
        failure = error;
      },
    });
    const startedAt = performance.now();
    const withPurge = await watchUnderLoad(store, watchMs);
    // What came in last has yet to expire.
    await pause(ttlMs + 5 * purgeEveryMs);
    const seconds = (performance.now() - startedAt) / 1_000;
    stop();
    if (failure !== undefined) throw failure;
    const after = await count();
    return {
      inflowPerSecond: withPurge.marked / (watchMs / 1_000),
      // By the rows, for a purge tells what it deleted when it is through, and under this load it never is.
      purgedPerSecond: (before.rows + withPurge.marked - after.rows) / seconds,
      expiredBefore: before.expired,
      expiredAfter: after.expired,
      p99MsWithout: without.p99Ms,
      p99MsWith: withPurge.p99Ms,
    };
  } finally {
    await store.close();
    await sql.end();
  }
}

/** Writes marks from many sides and asks for one after another, until the time is up. */
async function watchUnderLoad(
  store: PostgresStore,
  watchMs: number,
): Promise<{ marked: number; p99Ms: number }> {
  const endsAt = performance.now() + watchMs;
  const latenciesMs: number[] = [];
  let marked = 0;
  const write = async () => {
    while (performance.now() < endsAt) {
      await store.remember(randomUUID());
      marked++;
    }
  };
  const ask = async () => {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      await store.seen(randomUUID());
      latenciesMs.push(performance.now() - startedAt);
    }
  };
  await Promise.all([...Array.from({ length: writers }, write), ask()]);
  return { marked, p99Ms: percentile(latenciesMs, 0.99) };
}
