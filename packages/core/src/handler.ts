import type { Observer } from "./events.ts";
import type { Identity } from "./message.ts";
import { show } from "./options.ts";
import { type Awaitable, hasMethod, isThenable } from "./store.ts";

/** Runs the handler and tells how it went. What the handler throws passes through untouched, `undefined` included. */
export async function runHandler<R>(
  events: Observer,
  identity: Identity,
  handle: () => Awaitable<R>,
): Promise<R> {
  const { id } = identity;
  const startedAt = events.now();
  let value: R;
  try {
    const answer = handle();
    value = isThenable(answer) ? await answer : answer;
  } catch (error) {
    events.tell({ type: "failed", id, durationMs: events.now() - startedAt, error });
    throw error;
  }
  const durationMs = events.now() - startedAt;
  if (id === undefined) events.tell({ type: "unidentified", durationMs, error: identity.error });
  else events.tell({ type: "ran", id, durationMs });
  return value;
}

/** Throws `TypeError` unless a wrapper was given a store with the methods it calls, and a function as the handler. */
export function requireParts(
  wrapper: string,
  store: unknown,
  methods: readonly string[],
  handler: unknown,
): void {
  const missing = methods.filter((name) => !hasMethod(store, name));
  if (missing.length > 0) {
    throw new TypeError(`${wrapper}: the store has no method ${missing.join(", ")}, got ${show(store)}.`);
  }
  if (typeof handler !== "function")
    throw new TypeError(`${wrapper}: the handler must be a function, got ${show(handler)}.`);
}
