/** Where progress is shown: standard error, when that is a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Nobody needs progress of something that is over sooner, in milliseconds. */
const patienceMs = 1_000;
/** The pause between two pictures, in milliseconds. */
const intervalMs = 100;

/** One line that says how far the work is. It shows on a terminal only, and only when the work takes longer than a second. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #showAt: number;
  #shown = false;

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
    this.#showAt = now() + patienceMs;
  }

  /** `fraction` goes from 0 to 1. */
  update(fraction: number, text: string): void {
    if (!this.#terminal.isTTY || this.#now() < this.#showAt) return;
    this.#showAt = this.#now() + intervalMs;
    this.#shown = true;
    const percent = String(Math.floor(Math.min(1, fraction) * 100)).padStart(3);
    this.#terminal.write(`\r\x1b[K${percent} %  ${text}`);
  }

  /** Takes the line away, so that something else can be printed. */
  clear(): void {
    if (this.#shown) this.#terminal.write("\r\x1b[K");
    this.#shown = false;
  }
}
