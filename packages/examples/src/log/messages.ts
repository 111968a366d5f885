import type { Envelope, ProducerLanguage } from "@bq/idempotency-core";
import type { Payload } from "../demo/handler.ts";
import type { SeededRandom } from "./random.ts";

/** A message as a producer made it. A faulty producer left out its id, or wrote something else there. */
export type ProducedMessage = Omit<Envelope<Payload>, "meta"> & {
  meta: Omit<Envelope["meta"], "id"> & { id?: unknown };
};

const languages: readonly [ProducerLanguage, ...ProducerLanguage[]] = [
  "php",
  "go",
  "python",
  "java",
  "dotnet",
  "node",
];

/** 2026-01-05T08:00:00Z */
const firstCreatedAt = 1_767_600_000_000;

const topics: readonly [Topic, ...Topic[]] = [
  { job: "urn:babel:orders:created", queue: "orders" },
  { job: "urn:babel:orders:invoice.requested", queue: "orders" },
  { job: "urn:babel:catalog:item.indexed", queue: "catalog" },
  { job: "urn:babel:mail:welcome", queue: "mail" },
];

interface Topic {
  readonly job: string;
  readonly queue: string;
}

/** Scripts, combining marks in both normal forms, emoji joined and alone, right-to-left, markup, half a surrogate pair. */
const texts: readonly [string, ...string[]] = [
  "Café — naïve ☕",
  "Cafe\u0301",
  "東京 🗼",
  "Привет, мир",
  "مرحبا",
  "👩‍👩‍👧 family",
  "<b>A&B</b>",
  'say "hi"\t/ok',
  "line\u2028break",
  "cut \ud83d",
  "ไทย",
  "𝕏",
];

/** What stands where the id should be, when a producer is broken. */
const unusableIds: readonly unknown[] = [undefined, "", null, 1042];

/** Makes the messages, in the order of their production. */
export function produceMessages(count: number, random: SeededRandom): ProducedMessage[] {
  let traceId = random.uuid();
  return Array.from({ length: count }, (_, index) => {
    // A message often belongs to the chain of the one before it: then both have one trace id, and are still two messages.
    if (!random.chance(40)) traceId = random.uuid();
    const { job, queue } = random.pick(topics);
    const id = random.chance(2) ? unusableIds[index % unusableIds.length] : random.uuid();
    return {
      job,
      trace_id: traceId,
      data: payload(index, random),
      meta: {
        ...(id === undefined ? {} : { id }),
        queue,
        lang: random.pick(languages),
        schema_version: 1,
        created_at: firstCreatedAt + index * 40 + random.below(40),
      },
      attempts: 0,
    };
  });
}

function payload(index: number, random: SeededRandom): Payload {
  return {
    n: index + 1,
    ...(random.chance(50) ? { text: random.pick(texts) } : { cents: random.below(100_000) }),
    ...(random.chance(1) ? { throws: "always" } : random.chance(4) ? { throws: random.between(1, 3) } : {}),
  };
}
