import { GroupCommit } from "@bq/idempotency-core/backend";
import { type Answer, answerOf, type Call, requestOf } from "./call.ts";
import { answersOfAll, requestOfAll } from "./call-script.ts";
import { isReply } from "./client.ts";
import { concernsAll } from "./explain.ts";
import type { OwnClaims } from "./own-claims.ts";
import type { Session } from "./session.ts";

/** A script holds up the whole server, so it does not do more calls than this; measured, larger ones gain nothing. */
const mostTogether = 64;
/** While the server does one group, the answers to another are read and the next one is written. */
const groupsUnderWay = 4;
/** Calls that come together are spread over the groups under way; measured, smaller shares gain nothing. */
const fewestTogether = 16;

export interface CallTerms {
  readonly ttlMs: number | undefined;
  /** Are all keys on one server, so that one script may name them? */
  readonly together: boolean;
}

/** Sends the calls of a store: one that finds nothing under way alone, those that arrive meanwhile as one script. */
export class Calls {
  readonly #session: Session;
  readonly #ownClaims: OwnClaims;
  readonly #terms: CallTerms;
  readonly #group: GroupCommit<Call, Answer | Promise<Answer>>;

  constructor(session: Session, ownClaims: OwnClaims, terms: CallTerms) {
    this.#session = session;
    this.#ownClaims = ownClaims;
    this.#terms = terms;
    this.#group = new GroupCommit({
      operation: "a call",
      perform: (calls) => this.#perform(calls),
      maxCalls: mostTogether,
      maxUnderWay: groupsUnderWay,
      minShare: fewestTogether,
    });
  }

  /** Sends the call, alone or with others; throws a `StoreError` that is this call's own. */
  async submit(call: Call): Promise<Answer> {
    this.#session.requireOpen(call.operation, call.id);
    return this.#terms.together ? this.#group.submit(call) : this.#alone(call);
  }

  /** An answer that is a promise is for its caller alone to wait for. */
  async #perform(calls: readonly Call[]): Promise<readonly (Answer | Promise<Answer>)[]> {
    const [first] = calls;
    if (first === undefined) return [];
    if (calls.length === 1) return [await this.#alone(first)];
    try {
      const reply = await this.#session.exchange(requestOfAll(calls, this.#terms.ttlMs), first.madeAt, () =>
        this.#unanswered(calls),
      );
      const answers = answersOfAll(reply);
      return calls.map((call, i) => answers[i] ?? this.#alone(call));
    } catch (error) {
      // What the server refused for the sake of some, such as a script or a key that an ACL forbids, the others may get alone.
      if (isReply(error) && !concernsAll(error)) return calls.map((call) => this.#alone(call));
      return calls.map((call) => Promise.reject(this.#session.failure(error, call.operation, call.id)));
    }
  }

  async #alone(call: Call): Promise<Answer> {
    const { operation, id, madeAt } = call;
    try {
      const request = requestOf(call, this.#terms.ttlMs);
      return answerOf(call, await this.#session.exchange(request, madeAt, () => this.#unanswered([call])));
    } catch (error) {
      throw this.#session.failure(error, operation, id);
    }
  }

  /** These were sent and not answered: the server may have done them, or may do them yet. */
  #unanswered(calls: readonly Call[]): void {
    const releases: Call[] = [];
    for (const call of calls) {
      if (call.operation === "claim") releases.push(releaseOf(call));
      else if (call.operation === "commit" || call.operation === "release")
        this.#ownClaims.unanswered(call.claim);
    }
    // A claim may still be taken: by a server that was frozen, or when ioredis empties its queue after a reconnect. A release
    // behind it, on the same connection, drops it then; otherwise nobody would hold the id for a lease.
    const [first] = releases;
    if (first === undefined) return;
    this.#session.sendBehind(
      releases.length === 1 ? requestOf(first, undefined) : requestOfAll(releases, undefined),
    );
  }
}

function releaseOf({ id, key, madeAt, claim }: Call & { readonly operation: "claim" }): Call {
  return { operation: "release", id, key, madeAt, claim };
}
