import { InMemoryStore, type Store } from "../src/index.ts";

/** A store whose every method answers through a promise, as one behind a network does, over an in-memory one. */
export function remote(store: InMemoryStore = new InMemoryStore()): Store {
  return {
    seen: async (id) => store.seen(id),
    remember: async (id) => store.remember(id),
    forget: async (id) => store.forget(id),
  };
}

/** A store that fails each method as often as it is told to, and then works. */
export function failing(
  times: Partial<Record<"seen" | "remember" | "forget", number>>,
): Store & { calls: string[] } {
  const store = new InMemoryStore();
  const left = { seen: 0, remember: 0, forget: 0, ...times };
  const calls: string[] = [];
  const call = <T>(name: "seen" | "remember" | "forget", answer: () => T): T => {
    calls.push(name);
    if (left[name]-- > 0) throw new Error(`${name} is down`);
    return answer();
  };
  return {
    calls,
    seen: (id) => call("seen", () => store.seen(id)),
    remember: (id) => call("remember", () => store.remember(id)),
    forget: (id) => call("forget", () => store.forget(id)),
  };
}

/** A store that never answers, like one behind a connection that swallows everything. */
export const silent: Store = {
  seen: () => new Promise<boolean>(() => {}),
  remember: () => new Promise<void>(() => {}),
  forget: () => new Promise<void>(() => {}),
};

export function message(id: unknown): { meta: { id: unknown } } {
  return { meta: { id } };
}
