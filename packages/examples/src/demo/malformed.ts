import type { MalformedLine } from "./read-log.ts";

/** As many lines are reported one by one; a file that is no log at all would fill the screen. */
const reportedLines = 100;

/** Tells the user which lines are no deliveries, and counts them. */
export class MalformedLines {
  readonly #logName: string;
  readonly #write: (text: string) => void;
  #count = 0;

  constructor(logName: string, write: (text: string) => void) {
    this.#logName = logName;
    this.#write = write;
  }

  get count(): number {
    return this.#count;
  }

  add({ line, reason }: MalformedLine): void {
    this.#count++;
    if (this.#count <= reportedLines) this.#write(`${this.#logName}, line ${line}: ${reason}; skipped\n`);
  }

  summarise(): void {
    if (this.#count === 0) return;
    const more = this.#count > reportedLines ? ` (the first ${reportedLines} are named above)` : "";
    const lines = this.#count === 1 ? "1 line was malformed and" : `${this.#count} lines were malformed and`;
    this.#write(`${lines} skipped${more}.\n`);
  }
}
