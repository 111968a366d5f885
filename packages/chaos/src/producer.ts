import { setTimeout as pause } from "node:timers/promises";
import type { BrokerUnderTest } from "./brokers/broker-under-test.ts";
import { nowMs } from "./clock.ts";
import type { PlannedMessage } from "./plan/traffic.ts";

/** Sends the copies of all messages, each at its time; resolves when the broker has them all. */
export async function produce(
  broker: BrokerUnderTest,
  messages: readonly PlannedMessage[],
  startMs: number,
): Promise<void> {
  const copies = messages.flatMap((message) => message.copiesAtMs.map((atMs) => ({ atMs, message })));
  copies.sort((a, b) => a.atMs - b.atMs);
  const sending: Promise<void>[] = [];
  for (const { atMs, message } of copies) {
    const waitMs = startMs + atMs - nowMs();
    if (waitMs > 1) await pause(waitMs);
    const sent = sendCopy(broker, message);
    // It is waited for at the end; when the scenario ends before, by an error of its own, nobody does.
    sent.catch(() => {});
    sending.push(sent);
  }
  await Promise.all(sending);
}

/** Sends every message once more: a mark that was lost shows by a second effect. */
export async function produceAgain(
  broker: BrokerUnderTest,
  messages: readonly PlannedMessage[],
): Promise<void> {
  await Promise.all(messages.map((message) => sendCopy(broker, message)));
}

function sendCopy(broker: BrokerUnderTest, { id, workMs, failsFirst }: PlannedMessage): Promise<void> {
  return broker.send({ meta: { id }, workMs, failsFirst });
}
