export interface BatchTerms {
  /** A batch that is this large begins at once. */
  readonly size: number;
  /** A smaller one begins when its first item has waited this long, in milliseconds. */
  readonly waitMs: number;
}

/** Makes batches of what comes one by one. */
export class BatchCollector<Item> {
  readonly #terms: BatchTerms;
  readonly #process: (batch: readonly Item[]) => Promise<void>;
  readonly #underWay = new Set<Promise<void>>();
  #waiting: Item[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param process must not reject: it settles each item of the batch itself */
  constructor(terms: BatchTerms, process: (batch: readonly Item[]) => Promise<void>) {
    this.#terms = terms;
    this.#process = process;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    if (this.#waiting.length >= this.#terms.size) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#terms.waitMs);
  }

  /** Begins what waits, and resolves when every batch was processed. */
  async finished(): Promise<void> {
    this.#begin();
    await Promise.all(this.#underWay);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const processed = this.#process(batch);
    this.#underWay.add(processed);
    void processed.then(() => this.#underWay.delete(processed));
  }
}
