interface Limit {
  readonly endsAt: number;
  readonly over: () => void;
}

/**
 * Time limits that are nearly all over before they end. They share one timer, which costs a call next to nothing; a timer
 * of each call's own would be a good part of what a call costs.
 */
export class TimeLimits {
  readonly #limits = new Set<Limit>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  /** Calls `over` after so many milliseconds, unless the function that it returns is called before. */
  start(limitMs: number, over: () => void): () => void {
    const limit: Limit = { endsAt: performance.now() + limitMs, over };
    this.#limits.add(limit);
    this.#wakeAt(limit.endsAt);
    return () => {
      this.#limits.delete(limit);
    };
  }

  /** The timer keeps no process alive: what is waited for comes over a connection, which does. */
  #wakeAt(time: number): void {
    if (time >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = time;
    this.#timer = setTimeout(() => this.#look(), Math.ceil(time - performance.now())).unref();
  }

  #look(): void {
    this.#wakesAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const limit of this.#limits) {
      if (limit.endsAt > now) next = Math.min(next, limit.endsAt);
      else {
        this.#limits.delete(limit);
        limit.over();
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }
}
