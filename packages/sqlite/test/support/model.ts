import type { Claim } from "@bq/idempotency-core";
import { storageKey } from "@bq/idempotency-core";
import type Sqlite from "better-sqlite3";
import type { SqliteStore } from "../../src/index.ts";

/** One call that may be made in one turn with others. A claim is told by its place among all that were got. */
export type Call =
  | { readonly call: "seen" | "remember" | "forget" | "claim"; readonly id: string }
  | { readonly call: "seenMany" | "rememberMany"; readonly ids: string[] }
  | { readonly call: "renew" | "commit" | "release"; readonly claim: number };

/** What is done and awaited alone. */
export type Deed =
  | { readonly call: "lapse" | "expire"; readonly id: string }
  | { readonly call: "transact"; readonly id: string; readonly fails: boolean }
  | { readonly call: "purge" };

/** What one of the workers does in one turn of the event loop. */
export interface Turn {
  readonly worker: number;
  readonly steps: readonly (Call | Deed)[];
}

/** The answer of the store, and the one that is right. */
export interface Answer {
  readonly given: unknown;
  readonly right: unknown;
}

type Kind = "marked" | "expired" | "lapsed" | { heldBy: number };

/** What the contract says that the answers are, and nothing else; `step` has a store do the same. */
export class Model {
  readonly #database: Sqlite.Database;
  readonly #kinds = new Map<string, Kind>();
  /** By their places; a claim whose answer is still to come is `undefined`. */
  readonly #claims: (Claim | undefined)[] = [];

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  seen(id: string): boolean {
    return this.#kinds.get(id) === "marked";
  }

  /** Calls the store at once; what is right is known then, whatever is called before the answer comes. */
  async step(store: SqliteStore, step: Call | Deed): Promise<Answer> {
    switch (step.call) {
      case "seen": {
        const right = this.seen(step.id);
        return { given: await store.seen(step.id), right };
      }
      case "remember":
        this.#kinds.set(step.id, "marked");
        return { given: await store.remember(step.id), right: undefined };
      case "forget":
        this.#kinds.delete(step.id);
        return { given: await store.forget(step.id), right: undefined };
      case "seenMany": {
        const right = step.ids.map((id) => this.seen(id));
        return { given: await store.seenMany(step.ids), right };
      }
      case "rememberMany":
        for (const id of step.ids) this.#kinds.set(id, "marked");
        return { given: await store.rememberMany(step.ids), right: undefined };
      case "claim":
        return this.#claim(store, step.id);
      case "transact":
        return this.#transact(store, step.id, step.fails);
      case "purge":
        return { given: await store.purge({ batchSize: 2 }), right: this.#purge() };
      case "lapse":
      case "expire":
        this.#age(step.id);
        return { given: undefined, right: undefined };
      default:
        return this.#useClaim(store, step.call, this.#claims[step.claim]);
    }
  }

  async #claim(store: SqliteStore, id: string): Promise<Answer> {
    const right = this.#standing(id) ?? "claimed";
    const place = this.#claims.length;
    if (right === "claimed") {
      this.#claims.push(undefined);
      this.#kinds.set(id, { heldBy: place });
    }
    const result = await store.claim(id, 600_000);
    if (right === "claimed" && result.status === "claimed") this.#claims[place] = result.claim;
    return { given: result.status, right };
  }

  async #transact(store: SqliteStore, id: string, fails: boolean): Promise<Answer> {
    const right = this.#standing(id) ?? (fails ? "failed" : "ran");
    const work = () => {
      if (fails) throw new Error("the work failed");
    };
    const given = await store.transact(id, work).then(
      ({ status }) => status as string,
      () => "failed",
    );
    if (right === "ran") this.#kinds.set(id, "marked");
    return { given, right };
  }

  async #useClaim(
    store: SqliteStore,
    call: "renew" | "commit" | "release",
    claim: Claim | undefined,
  ): Promise<Answer> {
    if (claim === undefined) return { given: undefined, right: undefined };
    const kind = this.#kinds.get(claim.id);
    const right = typeof kind === "object" && this.#claims[kind.heldBy] === claim;
    if (call === "commit") this.#kinds.set(claim.id, "marked");
    if (call === "release" && right) this.#kinds.delete(claim.id);
    const given = call === "renew" ? await store.renew(claim, 600_000) : await store[call](claim);
    return { given, right };
  }

  /** What stands in the way of an id that is to be processed, if anything does. */
  #standing(id: string): "processed" | "in-flight" | undefined {
    if (this.seen(id)) return "processed";
    return typeof this.#kinds.get(id) === "object" ? "in-flight" : undefined;
  }

  /** Time goes by for the mark or the claim of one id, until it is over. */
  #age(id: string): void {
    const kind = this.#kinds.get(id);
    if (kind === "marked") this.#kinds.set(id, "expired");
    if (typeof kind === "object") this.#kinds.set(id, "lapsed");
    const key = storageKey(id);
    const past = Date.now() - 1;
    this.#database
      .prepare("UPDATE babelqueue_idempotency SET expires_at = ? WHERE message_id = ? AND expires_at > 0")
      .run(past, key);
    this.#database
      .prepare("UPDATE babelqueue_idempotency SET claimed_until = ? WHERE message_id = ? AND expires_at = 0")
      .run(past, key);
  }

  #purge(): number {
    const over = [...this.#kinds].filter(([, kind]) => kind === "expired" || kind === "lapsed");
    for (const [id] of over) this.#kinds.delete(id);
    return over.length;
  }
}
