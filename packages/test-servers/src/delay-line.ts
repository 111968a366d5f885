/** Hands on what is put in, in order, each after its delay. */
export class DelayLine {
  readonly #held: { readonly due: number; readonly deliver: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  put(delayMs: number, deliver: () => void): void {
    if (delayMs === 0 && this.#held.length === 0) {
      deliver();
      return;
    }
    this.#held.push({ due: performance.now() + delayMs, deliver });
    if (this.#timer === undefined) this.#wait();
  }

  /** Drops what is still held back. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#held.length = 0;
  }

  /** One timer for the first in line keeps the order, whatever the delays were. */
  #wait(): void {
    const first = this.#held[0];
    this.#timer = undefined;
    if (first === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#held.shift()?.deliver();
        this.#wait();
      },
      Math.max(0, first.due - performance.now()),
    );
  }
}
