import type { Claim } from "@bq/idempotency-core";
import { storageKey } from "@bq/idempotency-core";
import type postgres from "postgres";
import type { PostgresStore } from "../../src/index.ts";

/** One call, by one of the workers. A claim is told by its place among all that were got. */
export type Step = { readonly worker: number } & (
  | { readonly call: "seen" | "remember" | "forget" | "claim" | "lapse" | "expire"; readonly id: string }
  | { readonly call: "seenMany" | "rememberMany"; readonly ids: string[] }
  | { readonly call: "renew" | "commit" | "release"; readonly claim: number }
  | { readonly call: "transact"; readonly id: string; readonly fails: boolean }
  | { readonly call: "purge" }
);

type Kind = "marked" | "expired" | "lapsed" | { heldBy: string };

/** What the contract says that the answers are, and nothing else; `step` does the same to a store. */
export class Model {
  readonly #sql: postgres.Sql;
  readonly #table: string;
  readonly #kinds = new Map<string, Kind>();
  readonly #claims: Claim[] = [];

  constructor(sql: postgres.Sql, table: string) {
    this.#sql = sql;
    this.#table = table;
  }

  seen(id: string): boolean {
    return this.#kinds.get(id) === "marked";
  }

  /** The answer of the store and the one that is right. */
  async step(store: PostgresStore, step: Step): Promise<[answer: unknown, expected: unknown]> {
    switch (step.call) {
      case "seen":
        return [await store.seen(step.id), this.seen(step.id)];
      case "remember":
        this.#kinds.set(step.id, "marked");
        return [await store.remember(step.id), undefined];
      case "forget":
        this.#kinds.delete(step.id);
        return [await store.forget(step.id), undefined];
      case "seenMany":
        return [await store.seenMany(step.ids), step.ids.map((id) => this.seen(id))];
      case "rememberMany":
        for (const id of step.ids) this.#kinds.set(id, "marked");
        return [await store.rememberMany(step.ids), undefined];
      case "claim":
        return this.#claim(store, step.id);
      case "transact":
        return this.#transact(store, step.id, step.fails);
      case "purge":
        return [await store.purge({ batchSize: 2 }), this.#purge()];
      case "lapse":
      case "expire":
        return [await this.#age(step.id), undefined];
      default:
        return this.#useClaim(store, step.call, this.#claims[step.claim]);
    }
  }

  async #claim(store: PostgresStore, id: string): Promise<[unknown, unknown]> {
    const result = await store.claim(id, 600_000);
    const expected = this.#standing(id);
    if (result.status === "claimed") {
      this.#claims.push(result.claim);
      this.#kinds.set(id, { heldBy: result.claim.token });
    }
    return [result.status, expected ?? "claimed"];
  }

  async #transact(store: PostgresStore, id: string, fails: boolean): Promise<[unknown, unknown]> {
    const expected = this.#standing(id) ?? (fails ? "failed" : "ran");
    const work = () => {
      if (fails) throw new Error("the work failed");
    };
    const answer = await store.transact(id, work).then(
      ({ status }) => status as string,
      () => "failed",
    );
    if (expected === "ran") this.#kinds.set(id, "marked");
    return [answer, expected];
  }

  async #useClaim(
    store: PostgresStore,
    call: "renew" | "commit" | "release",
    claim: Claim | undefined,
  ): Promise<[unknown, unknown]> {
    if (claim === undefined) return [undefined, undefined];
    const kind = this.#kinds.get(claim.id);
    const ours = typeof kind === "object" && kind.heldBy === claim.token;
    if (call === "commit") this.#kinds.set(claim.id, "marked");
    if (call === "release" && ours) this.#kinds.delete(claim.id);
    return [call === "renew" ? await store.renew(claim, 600_000) : await store[call](claim), ours];
  }

  /** What stands in the way of an id that is to be processed, if anything does. */
  #standing(id: string): "processed" | "in-flight" | undefined {
    if (this.seen(id)) return "processed";
    return typeof this.#kinds.get(id) === "object" ? "in-flight" : undefined;
  }

  /** Time goes by for the mark or the claim of one id, until it is over. */
  async #age(id: string): Promise<void> {
    const kind = this.#kinds.get(id);
    if (kind === "marked") this.#kinds.set(id, "expired");
    if (typeof kind === "object") this.#kinds.set(id, "lapsed");
    await this.#sql`
      UPDATE ${this.#sql(this.#table)}
      SET
        expires_at = CASE WHEN expires_at > 'epoch' THEN LEAST(expires_at, now()) ELSE expires_at END,
        claimed_until = LEAST(claimed_until, now())
      WHERE message_id = ${storageKey(id)}`;
  }

  #purge(): number {
    const over = [...this.#kinds].filter(([, kind]) => kind === "expired" || kind === "lapsed");
    for (const [id] of over) this.#kinds.delete(id);
    return over.length;
  }
}
