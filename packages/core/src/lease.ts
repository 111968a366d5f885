import { ClaimLostError } from "./errors.ts";
import { type Claim, type ClaimingStore, isThenable } from "./store.ts";

/** After a renewal that failed, the next is tried after this share of the lease, in milliseconds at most the second figure. */
const retryShare = 1 / 10;
const longestRetryMs = 1_000;

/** A claim that is to be kept while its handler runs. */
export interface LeaseTerms {
  readonly store: ClaimingStore;
  readonly claim: Claim;
  readonly leaseMs: number;
  /** The longest that one renewal may take before it is tried again, in milliseconds. */
  readonly renewTimeoutMs: number;
  /** When the claim was sent, on the clock of `performance.now`: the store's lease began after that, never before. */
  readonly claimedAt: number;
  /** Is called at most once, when the lease is over before `stop`. */
  readonly onLost: (error: ClaimLostError) => void;
}

/**
 * Keeps a claim alive: renews it every third of the lease until it is stopped. A renewal that fails is tried again until
 * the lease is over; then, or when the store says that the claim is no longer ours, it is lost.
 *
 * There is one timer at a time, and it never keeps the process alive.
 */
export class Lease {
  readonly #terms: LeaseTerms;
  #heldUntil: number;
  #state: "held" | "lost" | "stopped" = "held";
  #lost: ClaimLostError | undefined;
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastFailure: unknown;
  #settling = false;

  constructor(terms: LeaseTerms) {
    this.#terms = terms;
    this.#heldUntil = terms.claimedAt + terms.leaseMs;
    this.#wake(terms.leaseMs / 3, () => this.#renew());
  }

  /** Aborts when the claim is lost, with the `ClaimLostError` as its reason. Made on first use: most handlers need none. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#lost && !this.#controller.signal.aborted) this.#controller.abort(this.#lost);
    return this.#controller.signal;
  }

  /** Can another worker not hold the id yet? Judged by a monotonic clock, also while the event loop is blocked. */
  get held(): boolean {
    return this.#state !== "lost" && performance.now() < this.#heldUntil;
  }

  /** Was the loss told already? */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /** Throws `ClaimLostError` if the lease is over: for handlers that compute for long and cannot hear a signal. */
  assertHeld(): void {
    if (this.#state === "held" && !this.held) this.#lose();
    if (this.#lost) throw this.#lost;
  }

  /**
   * The handler is done, and its mark is being written: until `stop` the claim is still renewed, so that nobody takes the id
   * meanwhile. That a renewal finds it gone proves nothing any more, for the mark may be what took its place.
   */
  settle(): void {
    this.#settling = true;
  }

  /** Ends the renewing. An answer that is still under way changes nothing any more. */
  stop(): void {
    clearTimeout(this.#timer);
    if (this.#state === "held") this.#state = "stopped";
  }

  #renew(): void {
    const sentAt = performance.now();
    if (sentAt >= this.#heldUntil) {
      this.#lose();
      return;
    }
    // While the answer is under way, the timer stands for its absence. An answer that comes late still counts.
    this.#wake(Math.min(this.#terms.renewTimeoutMs, this.#heldUntil - sentAt), () => this.#renew());
    const answered = (renewed: boolean) => this.#answered(renewed, sentAt);
    const failed = (error: unknown) => this.#failed(error);
    try {
      const answer = this.#terms.store.renew(this.#terms.claim, this.#terms.leaseMs);
      if (isThenable(answer)) Promise.resolve(answer).then(answered, failed);
      else answered(answer);
    } catch (error) {
      failed(error);
    }
  }

  #answered(renewed: boolean, sentAt: number): void {
    if (this.#state !== "held") return;
    if (renewed === true) {
      this.#heldUntil = Math.max(this.#heldUntil, sentAt + this.#terms.leaseMs);
      this.#wake(sentAt + this.#terms.leaseMs / 3 - performance.now(), () => this.#renew());
    } else {
      this.#lose();
    }
  }

  #failed(error: unknown): void {
    if (this.#state !== "held") return;
    this.#lastFailure = error;
    const leftMs = this.#heldUntil - performance.now();
    if (leftMs > 0)
      this.#wake(Math.min(this.#terms.leaseMs * retryShare, longestRetryMs, leftMs), () => this.#renew());
    else this.#lose();
  }

  #lose(): void {
    if (this.#state !== "held") return;
    clearTimeout(this.#timer);
    if (this.#settling) return;
    this.#state = "lost";
    const cause = this.#lastFailure;
    this.#lost = new ClaimLostError(this.#terms.claim.id, cause === undefined ? undefined : { cause });
    this.#controller?.abort(this.#lost);
    this.#terms.onLost(this.#lost);
  }

  #wake(afterMs: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, Math.max(1, afterMs));
    this.#timer.unref();
  }
}
