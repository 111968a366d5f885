/** A message of the soak, and how its handler ends. */
export interface Load {
  readonly meta: { readonly id: string | undefined };
  readonly fails: boolean;
}

/** How many of the latest ids come again. */
const recentIds = 1_000;

/**
 * What a consumer is handed in a long day, in the same order on every run: of a hundred deliveries about sixty are new, thirty-six
 * come again, three fail, and one has no id.
 */
export class Traffic {
  readonly #recent: string[] = [];
  readonly #space: string;
  #made = 0;
  #state = 1;

  /** @param space keeps the ids of one run apart from those of others on the same store */
  constructor(space: string) {
    this.#space = space;
  }

  next(): Load {
    const share = this.#random(100);
    if (share === 0) return { meta: { id: undefined }, fails: false };
    if (share > 63 && this.#recent.length > 0) {
      return { meta: { id: this.#recent[this.#random(this.#recent.length)] }, fails: false };
    }
    const id = `${this.#space}-${(this.#made++).toString(16).padStart(8, "0")}-0123456789ab`;
    this.#recent[this.#made % recentIds] = id;
    return { meta: { id }, fails: share < 4 };
  }

  /** A whole number from 0, below the limit (a linear congruential generator: quick, and the same everywhere). */
  #random(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}
