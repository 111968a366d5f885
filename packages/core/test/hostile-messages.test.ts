import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type BatchResult,
  type IdempotencyEvent,
  InMemoryStore,
  type TransactionalStore,
  wrap,
  wrapBatch,
  wrapClaiming,
  wrapTransactional,
} from "../src/index.ts";
import { failure, type Hostile, hostile, watched } from "./hostile.ts";

/** A store whose transactions keep the mark when the work succeeded, like those of a database. */
class TransactionalMemory extends InMemoryStore implements TransactionalStore<null> {
  async transact<R>(id: string | undefined, work: (tx: null) => R | PromiseLike<R>) {
    if (id !== undefined && this.seen(id)) return { status: "processed" as const };
    const value = await work(null);
    if (id !== undefined) this.remember(id);
    return { status: "ran" as const, value };
  }
  within(): this {
    return this;
  }
}

/** How the handler ends for a message. */
interface Ending {
  readonly fails: boolean;
  readonly error: unknown;
  readonly how: "throw" | "reject";
}

interface Sent extends Hostile, Ending {
  readonly watch: boolean;
}

const sent: fc.Arbitrary<() => Sent> = fc
  .tuple(hostile, failure, fc.boolean(), fc.constantFrom("throw" as const, "reject" as const), fc.boolean())
  .map(([make, error, fails, how, watch]) => () => ({ ...make(), error: error(), fails, how, watch }));

const messagesPerRun = 25;

/** Ends a delivery as its message says. */
function end({ fails, error, how }: Ending): "ran" | Promise<"ran"> {
  if (!fails) return how === "throw" ? "ran" : Promise.resolve("ran");
  if (how === "throw") throw error;
  return Promise.reject(error);
}

/** What is told of a delivery, apart from what comes beside its outcome. */
class Scene {
  readonly store = new TransactionalMemory();
  readonly marked = new Set<string>();
  readonly changes: string[] = [];
  readonly events: IdempotencyEvent["type"][] = [];
  readonly options = { observe: ({ type }: IdempotencyEvent) => this.events.push(type) };
  now: Sent | undefined;
  calls: unknown[] = [];

  /** The message as it is delivered. */
  delivered({ message, watch }: Sent): unknown {
    return watch ? watched(message, this.changes) : message;
  }

  /** What is to become of the message, given what became of those before it. */
  expected({ id, fails }: Sent): "skipped" | "failed" | "ran" | "unidentified" {
    if (id !== undefined && this.marked.has(id)) return "skipped";
    if (fails) return "failed";
    if (id === undefined) return "unidentified";
    this.marked.add(id);
    return "ran";
  }

  /** No more and no fewer marks than handlers that succeeded, and nobody's message is another one than before. */
  settled(): void {
    expect(this.store.size).toBe(this.marked.size);
    for (const id of this.marked) if (!this.store.seen(id)) expect.fail(`no mark for ${fc.stringify(id)}`);
    expect(this.changes).toEqual([]);
  }
}

type Deliver = (message: unknown) => Promise<unknown>;

const wrappers: Record<string, (scene: Scene, handler: (message: unknown) => unknown) => Deliver> = {
  wrap: ({ store, options }, handler) => wrap(store, handler as () => unknown, options) as Deliver,
  wrapClaiming: ({ store, options }, handler) =>
    wrapClaiming(store, handler as () => unknown, options) as Deliver,
  wrapTransactional: ({ store, options }, handler) =>
    wrapTransactional(store, handler as () => unknown, options) as Deliver,
};

/** Runs the property while nothing in it may cause an unhandled rejection. */
async function holds(property: fc.IAsyncProperty<[(() => Sent)[]]>, numRuns: number): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    await fc.assert(property, { numRuns });
    await new Promise(setImmediate);
  } finally {
    process.off("unhandledRejection", note);
  }
  expect(unhandled).toEqual([]);
}

for (const [name, make] of Object.entries(wrappers)) {
  it(`${name} loses, marks and changes no message wrongly, whatever the messages are and however their handler ends`, {
    timeout: 120_000,
  }, async () => {
    const property = fc.asyncProperty(
      fc.array(sent, { minLength: messagesPerRun, maxLength: messagesPerRun }),
      async (made) => {
        const messages = made.map((make) => make());
        const scene = new Scene();
        const deliver = make(scene, (message) => {
          scene.calls.push(message);
          return end(scene.now as Sent);
        });
        for (const one of messages) {
          const expected = scene.expected(one);
          const delivered = scene.delivered(one);
          const readsBefore = one.reads?.() ?? 0;
          scene.now = one;
          scene.calls = [];
          scene.events.length = 0;
          const ended = await deliver(delivered).then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          );
          if (expected === "failed") expectSame("error" in ended && ended.error, one.error);
          else expectSame("value" in ended && ended.value, expected === "skipped" ? undefined : "ran");
          expectSame(scene.calls.length, expected === "skipped" ? 0 : 1);
          if (expected !== "skipped") expectSame(scene.calls[0], delivered);
          expectSame(scene.events.join(), expected);
          if (one.reads) expectSame(one.reads() - readsBefore, 1);
        }
        scene.settled();
      },
    );
    await holds(property, 1_000);
  });
}

it("wrapBatch loses, marks and changes no message wrongly, and no message fails another", {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(
    fc.array(sent, { minLength: messagesPerRun, maxLength: messagesPerRun }),
    async (made) => {
      const messages = made.map((make) => make());
      const scene = new Scene();
      const batch = messages.map((one) => scene.delivered(one));
      let next = 0;
      const outcomes = messages.map((one) => scene.expected(one));
      const running = messages.filter((_, index) => outcomes[index] !== "skipped");
      const handler = () => end(running[next++] as Sent);
      const run = wrapBatch(scene.store, handler, scene.options) as unknown as (
        messages: unknown[],
      ) => Promise<BatchResult<unknown, unknown>[]>;
      const results = await run(batch);
      expectSame(next, running.length);
      expectSame(results.length, batch.length);
      for (const [index, result] of results.entries()) {
        const expected = outcomes[index] as string;
        expectSame(result.message, batch[index]);
        expectSame(result.outcome, expected === "unidentified" ? "ran" : expected);
        if (result.outcome === "failed") expectSame(result.error, messages[index]?.error);
      }
      scene.settled();
    },
  );
  await holds(property, 1_000);
});

/** The very same value: a comparison that looks into a hostile one would throw. */
function expectSame(given: unknown, wanted: unknown): void {
  if (!Object.is(given, wanted)) throw new Error(`${fc.stringify(given)} instead of ${fc.stringify(wanted)}`);
}
