import { GroupCommit, StoreError } from "@bq/idempotency-core/backend";
import type { Parameter } from "./ask.ts";
import type { GroupStatements } from "./group-statements.ts";
import { mayConcernOne } from "./sqlstate.ts";

/** The calls that can share a statement. */
export type GroupKind = keyof GroupStatements;

type Parameters = readonly Parameter[];

/** Runs a statement and gives its answer. */
export type Ask = (sql: string, parameters: Parameters) => Promise<string | undefined>;

/** What became of a call in a group; `undefined`: it has to ask by itself. */
type Share = PromiseSettledResult<string | undefined> | undefined;

/**
 * How many statements of one kind are under way before calls wait for each other, and how many calls share one. Measured: three
 * or four statements gain nothing more. Of callers in step, 256 do better on two statements of 128 each, which keep both the client and
 * the server at work; 64 do worse, for the marks of two halves wait for the disk twice. When most of them are told that their
 * message was processed, no marks follow, and 64 do better on two statements as well.
 */
const maxUnderWay = 2;
const minShare = 128;
const minShareOfSkips = 32;
const maxCalls = 256;

/** What a call that asks for a mark is told when there is one. */
const processedAnswer: Partial<Record<GroupKind, string>> = { seen: "1", claim: "processed" };

/** Lets the calls of each kind that arrive while others are under way share the next statement. */
export class Groups {
  readonly #ask: Ask;
  readonly #own: GroupStatements;
  readonly #shared: GroupStatements;
  /** The kinds whose last shared statement found most of its ids processed. */
  readonly #skips = new Set<GroupKind>();
  readonly #groups: Readonly<Record<GroupKind, GroupCommit<Parameters, Share>>>;

  /** `own` are the statements that a call asks by itself. */
  constructor(ask: Ask, own: GroupStatements, shared: GroupStatements) {
    this.#ask = ask;
    this.#own = own;
    this.#shared = shared;
    this.#groups = {
      seen: this.#group("seen"),
      remember: this.#group("remember"),
      forget: this.#group("forget"),
      claim: this.#group("claim"),
      renew: this.#group("renew"),
      commit: this.#group("commit"),
      release: this.#group("release"),
    };
  }

  /** Can the calls that ask this statement share one? */
  has(statement: string): statement is GroupKind {
    return Object.hasOwn(this.#groups, statement);
  }

  /** Makes the call, alone or with others of its kind. Its first parameter is the id. */
  async ask(kind: GroupKind, parameters: Parameters): Promise<string | undefined> {
    const share = await this.#groups[kind].submit(parameters);
    if (share === undefined) return this.#ask(this.#own[kind], parameters);
    if (share.status === "rejected") throw share.reason;
    return share.value;
  }

  #group(kind: GroupKind): GroupCommit<Parameters, Share> {
    return new GroupCommit<Parameters, Share>({
      operation: kind,
      perform: (calls) =>
        calls.length === 1
          ? Promise.all(calls.map((call) => settle(this.#ask(this.#own[kind], call))))
          : this.#together(kind, calls),
      maxCalls,
      maxUnderWay,
      minShare: () => (this.#skips.has(kind) ? minShareOfSkips : minShare),
      gathers: true,
      ...(kind === "seen" ? {} : { uniqueBy: idOf }),
    });
  }

  async #together(kind: GroupKind, calls: readonly Parameters[]): Promise<Share[]> {
    try {
      return await this.#share(kind, calls);
    } catch (error) {
      if (!mayConcernOne(error)) return calls.map(() => ({ status: "rejected", reason: error }));
      // Each by itself, but still by the shared statement: whoever waits for a lock gives it up soon, and lets those pass that
      // were sent behind it on its connection.
      return Promise.all(calls.map((call) => this.#shareAlone(kind, call)));
    }
  }

  async #shareAlone(kind: GroupKind, call: Parameters): Promise<Share> {
    try {
      return (await this.#share(kind, [call]))[0];
    } catch (error) {
      return mayConcernOne(error) ? undefined : { status: "rejected", reason: error };
    }
  }

  /** Asks for all of them with one statement. */
  async #share(kind: GroupKind, calls: readonly Parameters[]): Promise<Share[]> {
    const places = [...calls.keys()].sort((a, b) => compare(idOf(calls[a]), idOf(calls[b])));
    const columns = (calls[0] ?? []).map((_, column) =>
      JSON.stringify(places.map((place) => calls[place]?.[column])),
    );
    const answers = (await this.#ask(this.#shared[kind], columns))?.split(",");
    if (answers?.length !== calls.length) {
      throw new StoreError(
        `The server answered ${answers?.length ?? 0} calls of ${kind} where ${calls.length} were made.`,
        { operation: kind },
      );
    }
    this.#noteSkips(kind, answers);
    const shares = new Array<Share>(calls.length);
    for (const [rank, place] of places.entries()) {
      const value = answers[rank];
      shares[place] = value === "" ? undefined : { status: "fulfilled", value };
    }
    return shares;
  }

  #noteSkips(kind: GroupKind, answers: readonly string[]): void {
    const processed = processedAnswer[kind];
    const skips = answers.filter((answer) => answer === processed).length;
    if (2 * skips > answers.length) this.#skips.add(kind);
    else this.#skips.delete(kind);
  }
}

function settle(answer: Promise<string | undefined>): Promise<Share> {
  return answer.then(
    (value) => ({ status: "fulfilled", value }),
    (reason: unknown) => ({ status: "rejected", reason }),
  );
}

function idOf(call: Parameters | undefined): string {
  return call?.[0] ?? "";
}

/** By UTF-16 code units, as `sort()` does: the same in every process. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
