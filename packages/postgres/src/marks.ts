import type { BatchStore } from "@bq/idempotency-core";
import { storageKey } from "@bq/idempotency-core/backend";
import { answers, asked, written } from "./batch.ts";
import type { Table } from "./table.ts";
import { takeId } from "./taking.ts";

/** What `markFirst` found: the mark is this transaction's, or the id is in flight elsewhere, or it was processed before. */
export type MarkResult =
  | { status: "marked" }
  | { status: "in-flight"; retryAfterMs: number }
  | { status: "processed" };

/** The marks in a table: the seen-set, alone or inside a transaction. */
export class Marks implements BatchStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async seen(id: string): Promise<boolean> {
    const answer = await this.#table.ask({
      operation: "seen",
      id,
      statement: "seen",
      parameters: [storageKey(id)],
    });
    return answer === "1";
  }

  async seenMany(ids: readonly string[]): Promise<boolean[]> {
    const parameters = [asked(ids)];
    if (ids.length === 0) return [];
    const digits = await this.#table.ask({ operation: "seenMany", statement: "seenMany", parameters });
    return answers(digits, ids.length);
  }

  async remember(id: string): Promise<void> {
    await this.#table.ask({
      operation: "remember",
      id,
      statement: "remember",
      parameters: [storageKey(id), this.#table.ttl],
    });
  }

  async rememberMany(ids: readonly string[]): Promise<void> {
    const parameters = [written(ids), this.#table.ttl];
    if (ids.length === 0) return;
    await this.#table.ask({ operation: "rememberMany", statement: "rememberMany", parameters });
  }

  async forget(id: string): Promise<void> {
    await this.#table.ask({
      operation: "forget",
      id,
      statement: "forget",
      parameters: [storageKey(id)],
    });
  }

  /**
   * Writes the mark unless the id has one. Of several transactions that call this for one id, one is told `marked`; the
   * others wait for it to end, and are told what became of it. Call it before the effect, and leave the effect out unless it
   * answers `marked`: `seen` cannot see what a concurrent transaction has not committed yet.
   */
  async markFirst(id: string): Promise<MarkResult> {
    const parameters = [storageKey(id), this.#table.ttl];
    const found = await takeId("markFirst", id, () =>
      this.#table.ask({ operation: "markFirst", id, statement: "mark", parameters }),
    );
    return found.status === "taken" ? { status: "marked" } : found;
  }
}
