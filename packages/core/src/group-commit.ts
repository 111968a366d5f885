import { AsyncResource } from "node:async_hooks";
import { StoreError, toStoreError } from "./errors.ts";
import type { Awaitable } from "./store.ts";

/** How a backend performs many calls of one kind as one statement. */
export interface GroupTerms<Call, Answer> {
  /** The store method, for errors. */
  readonly operation: string;
  /** Performs the calls in one round trip: one answer per call, in their order. */
  readonly perform: (calls: readonly Call[]) => Awaitable<readonly Answer[]>;
  /** What may stand only once in a statement, such as the id of a claim; a second call of it goes into the next one. */
  readonly uniqueBy?: (call: Call) => string;
  /** After this failure each call is performed on its own, so that one bad call does not fail its neighbours. Default: never. */
  readonly separateAfter?: (error: unknown) => boolean;
  /** The most calls in one statement. Default 256. */
  readonly maxCalls?: number;
  /** How many statements may be under way before calls wait for each other. Default 1. */
  readonly maxUnderWay?: number;
  /**
   * Calls that come together are spread over the statements that may be under way, so that the answers to one are read while
   * the server works on another; each takes at least so many, or as many as this function says when a statement is made up.
   * Default: as many as `maxCalls`, so nothing is spread.
   */
  readonly minShare?: number | (() => number);
  /**
   * Does a call that finds nothing under way wait for the others of this turn of the event loop? So that callers which another
   * statement answered come together, instead of the first of them alone. Default `false`.
   */
  readonly gathers?: boolean;
  /** A statement that takes longer than this, in milliseconds, holds up nobody: further ones start beside it. Default 50. */
  readonly patienceMs?: number;
}

interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Statement {
  readonly startedAt: number;
}

/**
 * Makes one statement of the calls that arrive while another is under way. A call that finds nothing under way is sent at
 * once, so a single worker waits for nobody; under load the groups grow by themselves.
 *
 * A call resolves after its statement did, so what was awaited first happened first. Each caller's promise is its own, so
 * its async context is kept; the statements run in the context of the store.
 */
export class GroupCommit<Call, Answer> {
  readonly #terms: GroupTerms<Call, Answer>;
  readonly #context = new AsyncResource("GroupCommit", { requireManualDestroy: true });
  #waiting: Waiting<Call, Answer>[] = [];
  /** The statements that calls wait for, the oldest first: one that takes too long is no longer among them. */
  readonly #underWay = new Set<Statement>();
  /** Only while calls wait, so that a call alone costs no timer. */
  #impatience: NodeJS.Timeout | undefined;
  #gathering = false;

  constructor(terms: GroupTerms<Call, Answer>) {
    this.#terms = terms;
  }

  /** Performs the call, alone or with others. Rejects with what the statement failed with. */
  submit(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (this.#terms.gathers) this.#sendAfterTurn();
      else this.#send();
    });
  }

  #sendAfterTurn(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    process.nextTick(() => {
      this.#gathering = false;
      this.#send();
    });
  }

  #send(): void {
    const { maxUnderWay = 1 } = this.#terms;
    while (this.#waiting.length > 0 && this.#underWay.size < maxUnderWay) {
      const group = this.#nextGroup();
      this.#context.runInAsyncScope(() => void this.#performGroup(group));
    }
    if (this.#waiting.length > 0) this.#watch();
  }

  /** The calls that waited longest, as many as fit into one statement. */
  #nextGroup(): Waiting<Call, Answer>[] {
    const { uniqueBy } = this.#terms;
    const maxCalls = this.#share();
    if (uniqueBy === undefined) return this.#waiting.splice(0, maxCalls);
    const group: Waiting<Call, Answer>[] = [];
    const left: Waiting<Call, Answer>[] = [];
    const taken = new Set<string>();
    for (const waiting of this.#waiting) {
      const key = uniqueBy(waiting.call);
      const fits = group.length < maxCalls && !taken.has(key);
      (fits ? group : left).push(waiting);
      if (fits) taken.add(key);
    }
    this.#waiting = left;
    return group;
  }

  /** How many calls the next statement may take. */
  #share(): number {
    const { maxCalls = 256, maxUnderWay = 1, minShare = maxCalls } = this.#terms;
    const free = maxUnderWay - this.#underWay.size;
    const least = typeof minShare === "function" ? minShare() : minShare;
    return Math.min(maxCalls, Math.max(least, Math.ceil(this.#waiting.length / free)));
  }

  async #performGroup(group: readonly Waiting<Call, Answer>[]): Promise<void> {
    const statement: Statement = { startedAt: performance.now() };
    this.#underWay.add(statement);
    await this.#perform(group);
    // Those that it answered come with their next call before this turn of the event loop ends: into one statement with them.
    process.nextTick(() => {
      this.#underWay.delete(statement);
      this.#send();
    });
  }

  /** Lets the waiting calls pass the statements that take longer than `patienceMs`. */
  #watch(): void {
    if (this.#impatience !== undefined) return;
    const { patienceMs = 50 } = this.#terms;
    const [oldest] = this.#underWay;
    if (oldest === undefined) return;
    const leftMs = oldest.startedAt + patienceMs - performance.now();
    const lookAgain = () => {
      this.#impatience = undefined;
      const now = performance.now();
      for (const statement of this.#underWay) {
        if (now - statement.startedAt >= patienceMs) this.#underWay.delete(statement);
      }
      this.#send();
    };
    this.#impatience = setTimeout(lookAgain, Math.max(1, Math.ceil(leftMs))).unref();
  }

  async #perform(group: readonly Waiting<Call, Answer>[]): Promise<void> {
    const { operation, perform, separateAfter } = this.#terms;
    try {
      const answers = await perform(group.map(({ call }) => call));
      if (answers.length !== group.length) {
        throw new StoreError(`${answers.length} answers came for ${group.length} calls of ${operation}.`, {
          operation,
        });
      }
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (group.length > 1 && separateAfter?.(error))
        await Promise.all(group.map((one) => this.#perform([one])));
      else for (const { reject } of group) reject(toStoreError(error, operation));
    }
  }
}
