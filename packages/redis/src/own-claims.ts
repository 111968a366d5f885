import type { Claim } from "@bq/idempotency-core";
import type { RedisClient } from "./client.ts";

/** How often a client has lost a connection, counted once per client, however many stores share it. */
const lossCounters = new WeakMap<RedisClient, { count: number }>();

function lossesOf(client: RedisClient): { readonly count: number } {
  let losses = lossCounters.get(client);
  if (!losses) {
    const counter = { count: 0 };
    const lost = () => {
      counter.count++;
    };
    client.on("close", lost);
    // A cluster client stays open when it loses the connection to one of its nodes.
    client.on("-node", lost);
    lossCounters.set(client, counter);
    losses = counter;
  }
  return losses;
}

/**
 * What this store knows of its own claims. A command whose answer was lost with the connection is sent again, by ioredis or
 * by the caller, and then finds its own work done: the mark of its own commit, its own claim gone. That must not pass for a
 * claim lost to another worker. While our lease cannot have run out, no other worker can have taken the id.
 */
export class OwnClaims {
  readonly #losses: { readonly count: number };
  /** Claim → until when it surely holds, by `performance.now`; counted from before the request was sent. */
  readonly #heldUntil = new WeakMap<Claim, number>();
  /** Claims with a commit or release that failed without an answer, and so may have been done. */
  readonly #unanswered = new WeakSet<Claim>();

  constructor(client: RedisClient) {
    this.#losses = lossesOf(client);
  }

  /** The server granted a lease that was asked for at `sentAt`. */
  granted(claim: Claim, leaseMs: number, sentAt: number): void {
    this.#heldUntil.set(claim, sentAt + leaseMs);
  }

  /** A commit or release failed without an answer. */
  unanswered(claim: Claim): void {
    this.#unanswered.add(claim);
  }

  /**
   * To be called before a commit or release is sent. When that found its work done, the answer tells whether it was our own:
   * it may have been sent twice, and our lease had not run out.
   */
  mayFindOwnWork(claim: Claim): () => boolean {
    const lossesBefore = this.#losses.count;
    return () => {
      const sentTwice = this.#unanswered.has(claim) || this.#losses.count !== lossesBefore;
      return sentTwice && performance.now() < (this.#heldUntil.get(claim) ?? 0);
    };
  }
}
