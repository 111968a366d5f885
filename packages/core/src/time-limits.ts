interface Limit {
  readonly endsAt: number;
  readonly over: () => void;
}

/**
 * Time limits that are nearly all lifted before they end. They share one timer, which costs a call next to nothing; a timer
 * of each call's own would be a good part of what a call costs. The process is kept alive while a limit runs: what it is for
 * is not done.
 *
 * `over` is called in the async context of any of the callers: it should do no more than settle a promise.
 */
export class TimeLimits {
  readonly #limits = new Set<Limit>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  /** Calls `over` after so many milliseconds, unless the function that it returns is called before. */
  start(limitMs: number, over: () => void): () => void {
    const limit: Limit = { endsAt: performance.now() + limitMs, over };
    this.#limits.add(limit);
    if (limit.endsAt < this.#wakesAt) this.#wakeAt(limit.endsAt);
    else if (this.#limits.size === 1) this.#timer?.ref();
    return () => this.#lift(limit);
  }

  #lift(limit: Limit): void {
    // The timer stays for the next limit, which comes soon where calls are many.
    if (this.#limits.delete(limit) && this.#limits.size === 0) this.#timer?.unref();
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#timer);
    this.#wakesAt = time;
    this.#timer = setTimeout(() => this.#look(), Math.max(1, Math.ceil(time - performance.now())));
  }

  #look(): void {
    // The clock may lag behind the timer, which is what counts.
    const now = Math.max(this.#wakesAt, performance.now());
    this.#wakesAt = Number.POSITIVE_INFINITY;
    this.#timer = undefined;
    for (const limit of this.#limits) {
      if (limit.endsAt > now) continue;
      this.#limits.delete(limit);
      limit.over();
    }
    let next = this.#wakesAt;
    for (const { endsAt } of this.#limits) next = Math.min(next, endsAt);
    if (next < this.#wakesAt) this.#wakeAt(next);
  }
}
