import { wrap } from "@bq/idempotency-core";
import { PostgresStore } from "@bq/idempotency-postgres";
import postgres from "postgres";
import { type Figures, type Kind, kinds, type Place, type SingleContestant } from "./contestant.ts";
import { ratio, type Spread, spread } from "./statistics.ts";
import { type Length, Subject } from "./subject.ts";

export interface GrowthTerms {
  readonly smallMarks: number;
  readonly largeMarks: number;
  readonly rounds: number;
  readonly length: Length;
}

/** Deliveries per second on a small and on a large table, and what share the large one keeps. */
export interface Growth {
  readonly smallMarks: number;
  readonly largeMarks: number;
  readonly concurrency: number;
  readonly kinds: Record<Kind, { readonly small: Spread; readonly large: Spread; readonly ratio: Spread }>;
}

const concurrency = 64;

/** Measures `wrap` on two tables of Postgres in turn, one of which already holds many marks. */
export async function measureGrowth(place: Place, terms: GrowthTerms): Promise<Growth> {
  const { smallMarks, largeMarks, rounds, length } = terms;
  const measured: Record<Kind, { small: number[]; large: number[] }> = {
    first: { small: [], large: [] },
    duplicate: { small: [], large: [] },
  };
  await fillTable(place, "marks_large", largeMarks);
  const large = await Subject.open(onTable("marks_large"), place);
  try {
    for (let round = 0; round < rounds; round++) {
      const figures = {
        small: await measureSmall(place, smallMarks, length),
        large: await large.measure(concurrency, length),
      };
      for (const kind of kinds) {
        measured[kind].small.push(figures.small[kind].perSecond);
        measured[kind].large.push(figures.large[kind].perSecond);
      }
    }
  } finally {
    await large.close();
  }
  const compared = ({ small, large }: { small: number[]; large: number[] }) => ({
    small: spread(small),
    large: spread(large),
    ratio: ratio(large, small),
  });
  return {
    smallMarks,
    largeMarks,
    concurrency,
    kinds: { first: compared(measured.first), duplicate: compared(measured.duplicate) },
  };
}

/** On a table made for this round: what the round itself marks would soon make a large one of it. */
async function measureSmall(place: Place, marks: number, length: Length): Promise<Record<Kind, Figures>> {
  await fillTable(place, "marks_small", marks);
  const small = await Subject.open(onTable("marks_small"), place);
  try {
    return await small.measure(concurrency, length);
  } finally {
    await small.close();
  }
}

/** Makes the store's own table and puts so many marks of random UUIDs into it, as a single statement on the server. */
async function fillTable(place: Place, table: string, marks: number): Promise<void> {
  const store = await PostgresStore.connect(place.address, { table });
  const sql = postgres(place.address, { max: 1, onnotice() {} });
  try {
    await sql`DROP TABLE IF EXISTS ${sql(table)}`;
    await store.migrate();
    await sql`INSERT INTO ${sql(table)} (message_id) SELECT gen_random_uuid()::text FROM generate_series(1, ${marks})`;
    await sql`VACUUM ANALYZE ${sql(table)}`;
    await sql`CHECKPOINT`;
  } finally {
    await sql.end();
    await store.close();
  }
}

function onTable(table: string): SingleContestant {
  return {
    name: `postgres/wrap on ${table}`,
    side: "ours",
    backend: "postgres",
    mode: "seen-set",
    async open({ address }, effect) {
      const store = await PostgresStore.connect(address, { table });
      const consume = wrap(store, async () => effect());
      return { deliver: (id) => consume({ meta: { id } }), close: () => store.close() };
    },
  };
}
