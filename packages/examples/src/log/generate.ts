import { type ProducedMessage, produceMessages } from "./messages.ts";
import { writeLike } from "./producers.ts";
import { SeededRandom } from "./random.ts";

/** The seed of the log that is shipped. */
export const shippedSeed = 20_260_105;

const messageCount = 1_000;

/** A storm: a consumer group falls over, and for a while everything recent is delivered over and over. */
const stormCount = 8;
const stormMessages = 40;
const stormRounds = 8;

/** One delivery, and when it was handed over; the time only orders the log. */
interface Delivery {
  readonly message: ProducedMessage;
  readonly time: number;
}

/** Makes a delivery log as JSON Lines: the same text for the same seed. */
export function generateLog(seed: number): string {
  const random = new SeededRandom(seed);
  const messages = produceMessages(messageCount, random);
  const deliveries = messages.flatMap((message, index) => deliver(message, index, random));
  for (let storm = 1; storm <= stormCount; storm++) {
    const last = Math.floor((storm * messageCount) / (stormCount + 1));
    deliveries.push(...rageOver(messages.slice(last - stormMessages, last), last));
  }
  // The sort is stable, so deliveries of one time keep the order in which they were made.
  deliveries.sort((a, b) => a.time - b.time);
  return countAttempts(deliveries, random)
    .map((line) => `${line}\n`)
    .join("");
}

/** The first delivery of a message and its later ones: a slow acknowledgement, a retry after the handler threw. */
function deliver(message: ProducedMessage, index: number, random: SeededRandom): Delivery[] {
  const { throws } = message.data;
  const retries = throws === "always" ? 4 : (throws ?? 0);
  const redeliveries = retries + (random.chance(60) ? random.between(1, 4) : 0);
  let time = index;
  return Array.from({ length: redeliveries + 1 }, (_, nth) => {
    // Half of the redeliveries come at once, the others after up to a hundred further messages.
    if (nth > 0) time += random.chance(50) ? 1 : random.between(2, 100);
    return { message, time };
  });
}

/** Round after round, all of the messages, within the time of a few. */
function rageOver(messages: readonly ProducedMessage[], time: number): Delivery[] {
  return Array.from({ length: stormRounds }, (_, round) =>
    messages.map((message) => ({ message, time: time + round / stormRounds })),
  ).flat();
}

/** Writes each delivery with its count of attempts, which a broker raises with most redeliveries, and not with all. */
function countAttempts(deliveries: readonly Delivery[], random: SeededRandom): string[] {
  const attempts = new Map<ProducedMessage, number>();
  return deliveries.map(({ message }) => {
    const last = attempts.get(message);
    // A retry after a failure always counts, or a message that throws at first would never come to its success.
    const counts = message.data.throws !== undefined || random.chance(80);
    const attempt = last === undefined ? 0 : last + (counts ? 1 : 0);
    attempts.set(message, attempt);
    return writeLike(message.meta.lang, { ...message, attempts: attempt });
  });
}
