import { StoreError } from "@bq/idempotency-core/backend";

/** What an attempt to take an id found. */
export type Taking =
  | { readonly status: "taken" }
  | { readonly status: "processed" }
  | { readonly status: "in-flight"; readonly retryAfterMs: number };

/** How often to ask again for an id that changed hands while the question waited for it. */
const mostQuestions = 100;

/**
 * Asks until the statement answers. It gives no row when the id was taken, or given up, by somebody who committed while it
 * waited: its snapshot is older than that, and the next one's is not.
 */
export async function takeId(
  operation: string,
  id: string,
  ask: () => Promise<string | undefined>,
): Promise<Taking> {
  for (let questions = 1; questions <= mostQuestions; questions++) {
    const answer = await ask();
    if (answer !== undefined) return readTaking(operation, id, answer);
  }
  throw new StoreError(`The id changed hands ${mostQuestions} times while ${operation} asked for it.`, {
    operation,
    id,
  });
}

function readTaking(operation: string, id: string, answer: string): Taking {
  if (answer === "taken" || answer === "processed") return { status: answer };
  const retryAfterMs = Number(answer);
  if (Number.isFinite(retryAfterMs)) return { status: "in-flight", retryAfterMs: Math.max(1, retryAfterMs) };
  throw new StoreError(`The server answered ${operation} with ${JSON.stringify(answer)}.`, { operation, id });
}
