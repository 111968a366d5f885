import type { IdempotencyEvent } from "@bq/idempotency-core";
import { expect } from "vitest";

/** So long that no pause of the machine lets a claim lapse: that would be another scene, in which the other delivery runs. */
export const leaseMs = 5_000;

/** What was observed, and when, in the order of events. */
export class Observed {
  readonly events: { readonly event: IdempotencyEvent; readonly at: number }[] = [];

  readonly observe = (event: IdempotencyEvent): void => {
    this.events.push({ event, at: Date.now() });
  };

  get types(): string[] {
    return this.events.map(({ event }) => event.type);
  }

  /** Waits until there were this many events of the type. */
  async until(type: IdempotencyEvent["type"], count = 1): Promise<void> {
    const counted = () => this.types.filter((other) => other === type).length;
    await expect.poll(counted, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(count);
  }

  /** Every parked delivery was left alone for as long as it was told, until the next one that was asked about. */
  expectDelaysKept(): void {
    for (const [index, { event, at }] of this.events.entries()) {
      if (event.type !== "parked") continue;
      const next = this.events.slice(index + 1).find((later) => later.event.type !== "ran");
      // By the broker's clock, which may run faster than ours: RabbitMQ's does so by a hundredth while it is corrected.
      expect((next?.at ?? 0) - at).toBeGreaterThanOrEqual(0.98 * event.retryAfterMs - 1);
    }
  }
}

/** A handler's effect that takes until it is let go. */
export class HeldEffect {
  count = 0;
  letGo: () => void = () => {};
  readonly #gate: Promise<void> = new Promise((resolve) => {
    this.letGo = resolve;
  });

  readonly happen = async (): Promise<string> => {
    await this.#gate;
    this.count += 1;
    return "done";
  };
}
